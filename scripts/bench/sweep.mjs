import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../embedded/install.mjs';
import { comparisonOf, measure } from './comparison.mjs';
import { ask, MeasuringProcesses } from './processes.mjs';

const load = createRequire(join(projectRoot, 'package.json'));
const SERVER = fileURLToPath(new URL('./sweep-server.mjs', import.meta.url));

const MACHINES = 10_000;
const ORPHANS = 1_000;
const ROUNDS = 3;
const DEADLINE_MS = 300_000;
const PROVIDERS = /** @type {const} */ (['aws', 'google', 'azure', 'oci', 'proxmox']);
const NOWHERE = {
  ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

/**
 * @typedef {import('../../libs/compute-drivers/compute-driver.js').ComputeDriver} ComputeDriver
 * @typedef {import('./sweep-server.mjs').Served} Served
 * @typedef {typeof PROVIDERS[number]} Provider
 */

/**
 * Measures the time in which each driver finds a thousand orphaned machines among ten thousand and requests the end of exactly
 * these from its provider, against listing all of them with the same driver.
 * @param {{rounds: number, print: (text: string) => void, signal: AbortSignal}} options
 */
export async function measureSweep({ rounds, print, signal }) {
  const results = [];
  for (const provider of PROVIDERS) {
    /** @type {{baseline: number[], product: number[]}} */
    const measured = { baseline: [], product: [] };
    for (let round = 1; round <= Math.min(rounds, ROUNDS); round += 1) {
      const { listed, swept } = await sweepOnce(provider, signal);
      measured.baseline.push(listed);
      measured.product.push(swept);
      print(`sweep-${provider}: listed in ${listed.toFixed(2)} s, swept in ${swept.toFixed(2)} s`);
    }
    const what = `${ORPHANS} machines that nobody wants among ${MACHINES}`;
    results.push(
      measure({
        name: `sweep-${provider}`,
        title: `${provider}: ${what}, found and their end requested; the slowest of ${measured.product.length}`,
        unit: 's',
        goal: { below: 60 },
        value: Math.max(...measured.product),
      }),
      comparisonOf({
        name: `sweep-${provider}-listing`,
        title: `${provider}: the same, against a list of all machines`,
        unit: 's',
        goal: { atMost: 8 },
        measured,
      }),
    );
  }
  return results;
}

/** @param {Provider} provider @param {AbortSignal} signal */
async function sweepOnce(provider, signal) {
  const processes = new MeasuringProcesses(signal);
  try {
    const server = processes.start(SERVER);
    const tokens = Array.from({ length: MACHINES }, () => randomUUID());
    /** @type {Set<string>} */
    const orphans = new Set(tokens.filter((_, index) => index % (MACHINES / ORPHANS) === 0));
    const installationId = randomUUID();
    const createdAt = new Date(Date.now() - 3_600_000).toISOString();
    /** @type {Served} */
    const served = await ask(server, { kind: provider, installationId, tokens, createdAt });
    const driver = driverOf(provider, served);
    const call = {
      endpoint: served.endpoint,
      credentials: served.credentials,
      correlationId: 'bench',
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    };
    const place = { ...NOWHERE, ...served.place };
    let began = performance.now();
    const listed = await driver.listOwned({ installationId, place }, call);
    const listedIn = (performance.now() - began) / 1000;
    if (listed.length !== MACHINES) throw new Error(`${provider}: ${listed.length} machines were listed.`);
    began = performance.now();
    const { removed, failed } = await driver.sweep(
      {
        ...{ installationId, place, olderThan: new Date(Date.now() - 600_000) },
        liveAmong: (wanted) => Promise.resolve(new Set(wanted.filter((token) => !orphans.has(token)))),
      },
      call,
    );
    const sweptIn = (performance.now() - began) / 1000;
    if (failed.length > 0 || removed.length !== ORPHANS)
      throw new Error(
        `${provider}: ${removed.length} were removed, ${failed.length} failed: ${String(failed[0]?.error)}`,
      );
    await assertLeft(provider, server, tokens, orphans);
    return { listed: listedIn, swept: sweptIn };
  } finally {
    await processes.close();
  }
}

/**
 * Throws unless the provider keeps all machines that are wanted and, in the end, no others.
 * @param {Provider} provider
 * @param {import('node:child_process').ChildProcess} server
 * @param {string[]} tokens
 * @param {Set<string>} orphans
 */
async function assertLeft(provider, server, tokens, orphans) {
  const until = performance.now() + 30_000;
  for (;;) {
    const { left } = /** @type {{left: string[]}} */ (await ask(server, 'left'));
    const still = new Set(left);
    const wrong = tokens.filter((token) => !orphans.has(token) && !still.has(token));
    if (wrong.length > 0) throw new Error(`${provider}: ${wrong.length} machines were wrongly destroyed.`);
    if (![...orphans].some((token) => still.has(token))) return;
    if (performance.now() > until) throw new Error(`${provider}: some of what was removed is still there.`);
  }
}

/** @param {Provider} provider @param {Served} served @returns {ComputeDriver} */
function driverOf(provider, { endpoint, ca }) {
  /** @type {typeof import('../../libs/outbound-policy/outbound-policy.js')} */
  const { OutboundPolicy } = load('./dist/libs/outbound-policy/outbound-policy.js');
  const outbound = new OutboundPolicy({
    schemes: ['http', 'https'],
    allowedClasses: [],
    allowedNetworks: ['127.0.0.1'],
  });
  const bootScript = () => {
    throw new Error('No machine is made here.');
  };
  const options = { bootScript, outbound, endpoint };
  /** @param {string} name */
  const library = (name) => load(`./dist/libs/compute-drivers/${provider}/${name}.js`);
  switch (provider) {
    case 'aws':
      return new (library('aws-driver').AwsDriver)(options);
    case 'google':
      return new (library('google-driver').GoogleDriver)(options);
    case 'azure':
      return new (library('azure-driver').AzureDriver)({ ...options, authority: endpoint, ca });
    case 'oci':
      return new (library('oci-driver').OciDriver)(options);
    case 'proxmox': {
      const { ProxmoxConnections } = library('proxmox-connections');
      const connections = new ProxmoxConnections(outbound, { ca: null, unverifiedHosts: [] });
      return new (library('proxmox-driver').ProxmoxDriver)({ bootScript, connections });
    }
  }
}
