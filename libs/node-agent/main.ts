import { mkdirSync } from 'node:fs';
import { Agent } from './agent';
import { type AgentConfig, neededPaths, readConfig } from './config';
import { chooseConfinement, describe } from './confinement';
import { tryLock } from './processes';
import type { Confinement } from './sandbox';

/** Exit code of an agent whose node is no longer wanted. Its supervisor must not start it again. */
const EXIT_NOT_WANTED = 86;

async function main(): Promise<number> {
  const path = process.argv[2];
  if (path === undefined) throw new Error('Usage: node main.js <config.json>');
  const config = readConfig(path);
  // Two agents on one node would start its daemons twice.
  mkdirSync(config.node_dir, { recursive: true, mode: 0o700 });
  if (!(await tryLock(`${config.node_dir}/agent.lock`)))
    throw new Error(`Another agent is already running for ${config.node_dir}.`);
  const agent = new Agent(config, config.confinement ?? (await ownConfinement(config)));
  process.on('SIGTERM', () => agent.stop());
  process.on('SIGINT', () => agent.stop());
  return (await agent.work()) === 'not-wanted' ? EXIT_NOT_WANTED : 0;
}

/** For an agent that chooses its own confinement, on a machine that it does not share. */
async function ownConfinement(config: AgentConfig): Promise<Confinement> {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(process.env['SPARK_NODE_UIDS'] ?? '') ?? [];
  const means = {
    bubblewrap: process.env['SPARK_NODE_BUBBLEWRAP'] || null,
    firstUid: Number(first ?? 0),
    uids: first === undefined ? 0 : Number(last) - Number(first) + 1,
    dir: config.node_dir,
    needed: neededPaths(config),
  };
  const { confinement, problem } = await chooseConfinement(means);
  if (problem !== null) process.stderr.write(`${describe(confinement)}: ${problem}\n`);
  return confinement;
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
