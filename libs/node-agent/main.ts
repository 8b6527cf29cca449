import { Agent } from './agent';
import { readConfig } from './config';
import { tryLock } from './processes';

/** Exit code of an agent whose node is no longer wanted: whoever supervises it must not start it again. */
const EXIT_NOT_WANTED = 86;

async function main(): Promise<number> {
  const path = process.argv[2];
  if (path === undefined) throw new Error('usage: node main.js <config.json>');
  const config = readConfig(path);
  // Two agents on one node would start its daemons twice.
  if (!(await tryLock(`agent ${config.node_dir}`))) throw new Error(`Another agent runs for ${config.node_dir}.`);
  const agent = new Agent(config);
  process.on('SIGTERM', () => agent.stop());
  process.on('SIGINT', () => agent.stop());
  return (await agent.work()) === 'not-wanted' ? EXIT_NOT_WANTED : 0;
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
