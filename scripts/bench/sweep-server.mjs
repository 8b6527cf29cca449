// A provider with machines, in a process of its own: what it does for an answer must not be taken for work of those who ask.
// The tests' stand-ins, and of EC2 the few answers that a sweep needs, as its Query API gives them: the stand-in that
// tests have takes minutes to make as many machines. Told what to serve by its parent, and ends with it.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { projectRoot } from '../embedded/install.mjs';
import { loadTesting } from './testing.mjs';

const load = createRequire(join(projectRoot, 'package.json'));

/**
 * What is there, by the token of its node. `createdAt` is an ISO date.
 * @typedef {{kind: keyof typeof SERVERS, installationId: string, tokens: string[], createdAt: string}} Told
 * How to call it, and where machines are.
 * @typedef {{endpoint: string, ca?: string, credentials: Record<string, string>, place: Record<string, string>}} Served
 * @typedef {Served & {left: () => string[]}} Serving left: tokens of machines whose end was not asked for
 */

/** @param {Told} told @param {string} token @returns {Record<string, string>} */
const labelsOf = ({ installationId }, token) => ({
  platform_installation: installationId,
  platform_cluster: '7_11',
  platform_node: token,
  platform_attempt: '1',
});

const SERVERS = {
  /** @param {Told} told @returns {Promise<Serving>} */
  async aws(told) {
    const machines = new Map(told.tokens.map((token, index) => [instanceId(index), { token, state: 'running' }]));
    const server = createServer((request, response) => {
      void buffer(request).then((body) => {
        const answer = ec2Answer(new URLSearchParams(body.toString()), machines, told);
        response.writeHead(200, { 'content-type': 'text/xml' }).end(answer);
      });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return {
      endpoint: `http://127.0.0.1:${port}`,
      credentials: { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'any', AWS_DEFAULT_REGION: 'eu-west-1' },
      place: { region: 'eu-west-1' },
      left: () => [...machines.values()].filter(({ state }) => state === 'running').map(({ token }) => token),
    };
  },
  /** @param {Told} told @returns {Promise<Serving>} */
  async google(told) {
    /** @type {typeof import('../../test/fakes/clouds/fake-google-compute.js')} */
    const { FakeGoogleCompute } = await loadTesting('fakes/clouds/fake-google-compute');
    const fake = await FakeGoogleCompute.start();
    // It shows them until they have gone.
    const machine = { zone: 'europe-west1-b', createdAt: told.createdAt };
    told.tokens.forEach((token, index) =>
      fake.addInstance({ ...machine, name: `node-${index}`, labels: labelsOf(told, token) }),
    );
    return {
      endpoint: fake.url,
      credentials: fake.credentials,
      place: { account: fake.project, region: 'europe-west1' },
      left: () => fake.all().map(({ labels }) => labels['platform_node'] ?? ''),
    };
  },
  /** @param {Told} told @returns {Promise<Serving>} */
  async azure(told) {
    /** @type {typeof import('../../test/fakes/clouds/fake-azure.js')} */
    const { FakeAzure, FAKE_AZURE } = await loadTesting('fakes/clouds/fake-azure');
    const fake = await FakeAzure.start();
    for (const token of told.tokens) fake.put('virtualMachines', `node-${token}`, labelsOf(told, token));
    return {
      endpoint: fake.url,
      ca: fake.ca,
      credentials: FAKE_AZURE.credentials,
      place: { account: FAKE_AZURE.group },
      left: () => fake.names('virtualMachines').map((name) => name.replace('node-', '')),
    };
  },
  /** @param {Told} told @returns {Promise<Serving>} */
  async oci(told) {
    /** @type {typeof import('../../test/fakes/clouds/fake-oci.js')} */
    const { FakeOci } = await loadTesting('fakes/clouds/fake-oci');
    const fake = await FakeOci.start();
    for (const token of told.tokens)
      fake.addInstance(`platform-${token}`, labelsOf(told, token), { timeCreated: told.createdAt });
    return {
      endpoint: fake.url,
      credentials: fake.credentials,
      place: { region: fake.region },
      left: () =>
        [...fake.instances.values()]
          .filter(({ fields }) => fields.lifecycleState === 'RUNNING')
          .map(({ fields }) => fields.freeformTags['platform_node'] ?? ''),
    };
  },
  /** @param {Told} told @returns {Promise<Serving>} */
  async proxmox(told) {
    /** @type {typeof import('../../test/fakes/clouds/fake-proxmox.js')} */
    const { FakeProxmox } = await loadTesting('fakes/clouds/fake-proxmox');
    /** @type {typeof import('../../libs/compute-drivers/proxmox/machine-note.js')} */
    const { newNote } = load('./dist/libs/compute-drivers/proxmox/machine-note.js');
    /** @type {typeof import('../../libs/compute-drivers/proxmox/machine-names.js')} */
    const { idsOf, nameOf } = load('./dist/libs/compute-drivers/proxmox/machine-names.js');
    const usage = { cpu: 0, maxcpu: 64, mem: 0, maxmem: 2 ** 40, disk: 0, maxdisk: 2 ** 40 };
    const account = { id: 'platform@pve!bench', secret: 'any' };
    const fake = await FakeProxmox.start({ tokens: [account], nodes: [{ node: 'pve1', status: 'online', ...usage }] });
    for (const nodeToken of told.tokens) {
      const labels = { installationId: told.installationId, tenantId: '7', clusterId: '11', nodeToken };
      const spec = /** @type {any} */ ({ labels, attempt: 1, userLabels: {} });
      const description = newNote(spec, {}).replace(/"created":"[^"]+"/, `"created":"${told.createdAt}"`);
      const [vmid = 0] = idsOf(nodeToken);
      const config = { name: nameOf(labels), description };
      fake.machines.machines.set(vmid, { vmid, node: 'pve1', config, isRunning: false, isTemplate: false });
    }
    return {
      endpoint: fake.url,
      credentials: { USERNAME: account.id, PASSWORD: account.secret },
      place: {},
      left: () =>
        [...fake.machines.machines.values()].flatMap(({ config }) => {
          const [, token] = /"platform_node":"([^"]+)"/.exec(config['description'] ?? '') ?? [];
          return token === undefined ? [] : [token];
        }),
    };
  },
};

const PAGE = 1_000;

/** @param {number} index */
function instanceId(index) {
  return `i-${createHash('sha256').update(`${index}`).digest('hex').slice(0, 17)}`;
}

/**
 * @param {URLSearchParams} form
 * @param {Map<string, {token: string, state: string}>} machines
 * @param {Told} told
 */
function ec2Answer(form, machines, told) {
  const action = form.get('Action') ?? '';
  /** @param {string} content */
  const answer = (content) =>
    `<?xml version="1.0" encoding="UTF-8"?><${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">` +
    `<requestId>bench</requestId>${content}</${action}Response>`;
  if (action === 'DescribeInstances') {
    const from = Number(form.get('NextToken') ?? 0);
    const all = [...machines].slice(from, from + PAGE);
    const items = all.map(([id, machine]) => ec2Reservation(id, machine, told)).join('');
    const next = from + PAGE < machines.size ? `<nextToken>${from + PAGE}</nextToken>` : '';
    return answer(`<reservationSet>${items}</reservationSet>${next}`);
  }
  if (action === 'TerminateInstances')
    for (const [name, id] of form) {
      const machine = name.startsWith('InstanceId.') ? machines.get(id) : undefined;
      if (machine) machine.state = 'shutting-down';
    }
  return answer('');
}

/** What EC2 tells of a usual machine. @param {string} id @param {{token: string, state: string}} machine @param {Told} told */
function ec2Reservation(id, { token, state }, told) {
  const tags = Object.entries(labelsOf(told, token)).map(
    ([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`,
  );
  const disk =
    '<item><deviceName>/dev/sda1</deviceName><ebs><volumeId>vol-1</volumeId><status>attached</status></ebs></item>';
  const card =
    '<item><networkInterfaceId>eni-1</networkInterfaceId><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId>' +
    '<privateIpAddress>10.0.0.1</privateIpAddress><status>in-use</status></item>';
  return (
    `<item><reservationId>r-${id.slice(2)}</reservationId><ownerId>123456789012</ownerId><groupSet/><instancesSet><item>` +
    `<instanceId>${id}</instanceId><imageId>ami-1</imageId><instanceState><code>16</code><name>${state}</name></instanceState>` +
    `<privateDnsName>ip-10-0-0-1</privateDnsName><instanceType>m5.large</instanceType><launchTime>${told.createdAt}</launchTime>` +
    `<placement><availabilityZone>eu-west-1a</availabilityZone><tenancy>default</tenancy></placement><vpcId>vpc-1</vpcId>` +
    `<subnetId>subnet-1</subnetId><privateIpAddress>10.0.0.1</privateIpAddress><architecture>x86_64</architecture>` +
    `<blockDeviceMapping>${disk}</blockDeviceMapping><networkInterfaceSet>${card}</networkInterfaceSet>` +
    `<tagSet>${tags.join('')}</tagSet></item></instancesSet></item>`
  );
}

/** @type {Serving | null} */
let serving = null;

process.on('message', (/** @type {Told | 'left'} */ told) => {
  const answered =
    told === 'left'
      ? Promise.resolve({ left: serving?.left() ?? [] })
      : SERVERS[told.kind](told).then((made) => {
          serving = made;
          const { left: _left, ...served } = made;
          return served;
        });
  answered.then(
    (answer) => process.send?.(answer),
    (/** @type {Error} */ error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit(0));
