// Runs a provider with machines in a process of its own, so that its work is not counted as work of the driver. It uses the
// tests' fakes. EC2 is the exception: the tests' fake takes minutes to create as many machines, so this file gives the few
// responses that a sweep needs, in the form of its Query API. The parent process sends the instructions; this process ends
// with its parent.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { projectRoot } from '../embedded/install.mjs';
import { loadTesting } from './testing.mjs';

const load = createRequire(join(projectRoot, 'package.json'));

/**
 * The machines, by the token of their node. `createdAt` is an ISO date.
 * @typedef {{kind: keyof typeof SERVERS, installationId: string, tokens: string[], createdAt: string}} Instructions
 * Endpoint, credentials and place of the provider.
 * @typedef {{endpoint: string, ca?: string, credentials: Record<string, string>, place: Record<string, string>}} Served
 * @typedef {Served & {left: () => string[]}} Serving left: tokens of machines that nobody requested to end
 */

/** @param {Instructions} instructions @param {string} token @returns {Record<string, string>} */
const labelsOf = ({ installationId }, token) => ({
  platform_installation: installationId,
  platform_cluster: '7_11',
  platform_node: token,
  platform_attempt: '1',
});

const SERVERS = {
  /** @param {Instructions} instructions @returns {Promise<Serving>} */
  async aws(instructions) {
    const machines = new Map(
      instructions.tokens.map((token, index) => [instanceId(index), { token, state: 'running' }]),
    );
    const server = createServer((request, response) => {
      void buffer(request).then((body) => {
        const answer = ec2Answer(new URLSearchParams(body.toString()), machines, instructions);
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
  /** @param {Instructions} instructions @returns {Promise<Serving>} */
  async google(instructions) {
    /** @type {typeof import('../../test/fakes/clouds/fake-google-compute.js')} */
    const { FakeGoogleCompute } = await loadTesting('fakes/clouds/fake-google-compute');
    const fake = await FakeGoogleCompute.start();
    // The fake lists them until they are gone.
    const machine = { zone: 'europe-west1-b', createdAt: instructions.createdAt };
    instructions.tokens.forEach((token, index) =>
      fake.addInstance({ ...machine, name: `node-${index}`, labels: labelsOf(instructions, token) }),
    );
    return {
      endpoint: fake.url,
      credentials: fake.credentials,
      place: { account: fake.project, region: 'europe-west1' },
      left: () => fake.all().map(({ labels }) => labels['platform_node'] ?? ''),
    };
  },
  /** @param {Instructions} instructions @returns {Promise<Serving>} */
  async azure(instructions) {
    /** @type {typeof import('../../test/fakes/clouds/fake-azure.js')} */
    const { FakeAzure, FAKE_AZURE } = await loadTesting('fakes/clouds/fake-azure');
    const fake = await FakeAzure.start();
    for (const token of instructions.tokens)
      fake.put('virtualMachines', `node-${token}`, labelsOf(instructions, token));
    return {
      endpoint: fake.url,
      ca: fake.ca,
      credentials: FAKE_AZURE.credentials,
      place: { account: FAKE_AZURE.group },
      left: () => fake.names('virtualMachines').map((name) => name.replace('node-', '')),
    };
  },
  /** @param {Instructions} instructions @returns {Promise<Serving>} */
  async oci(instructions) {
    /** @type {typeof import('../../test/fakes/clouds/fake-oci.js')} */
    const { FakeOci } = await loadTesting('fakes/clouds/fake-oci');
    const fake = await FakeOci.start();
    for (const token of instructions.tokens)
      fake.addInstance(`platform-${token}`, labelsOf(instructions, token), { timeCreated: instructions.createdAt });
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
  /** @param {Instructions} instructions @returns {Promise<Serving>} */
  async proxmox(instructions) {
    /** @type {typeof import('../../test/fakes/clouds/fake-proxmox.js')} */
    const { FakeProxmox } = await loadTesting('fakes/clouds/fake-proxmox');
    /** @type {typeof import('../../libs/compute-drivers/proxmox/machine-note.js')} */
    const { newNote } = load('./dist/libs/compute-drivers/proxmox/machine-note.js');
    /** @type {typeof import('../../libs/compute-drivers/proxmox/machine-names.js')} */
    const { idsOf, nameOf } = load('./dist/libs/compute-drivers/proxmox/machine-names.js');
    const usage = { cpu: 0, maxcpu: 64, mem: 0, maxmem: 2 ** 40, disk: 0, maxdisk: 2 ** 40 };
    const account = { id: 'platform@pve!bench', secret: 'any' };
    const fake = await FakeProxmox.start({ tokens: [account], nodes: [{ node: 'pve1', status: 'online', ...usage }] });
    for (const nodeToken of instructions.tokens) {
      const labels = { installationId: instructions.installationId, tenantId: '7', clusterId: '11', nodeToken };
      const spec = /** @type {any} */ ({ labels, attempt: 1, userLabels: {} });
      const description = newNote(spec, {}).replace(/"created":"[^"]+"/, `"created":"${instructions.createdAt}"`);
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
 * @param {Instructions} instructions
 */
function ec2Answer(form, machines, instructions) {
  const action = form.get('Action') ?? '';
  /** @param {string} content */
  const answer = (content) =>
    `<?xml version="1.0" encoding="UTF-8"?><${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">` +
    `<requestId>bench</requestId>${content}</${action}Response>`;
  if (action === 'DescribeInstances') {
    const from = Number(form.get('NextToken') ?? 0);
    const all = [...machines].slice(from, from + PAGE);
    const items = all.map(([id, machine]) => ec2Reservation(id, machine, instructions)).join('');
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

/** Returns the description of a typical machine in EC2's form. @param {string} id @param {{token: string, state: string}} machine @param {Instructions} instructions */
function ec2Reservation(id, { token, state }, instructions) {
  const tags = Object.entries(labelsOf(instructions, token)).map(
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
    `<privateDnsName>ip-10-0-0-1</privateDnsName><instanceType>m5.large</instanceType><launchTime>${instructions.createdAt}</launchTime>` +
    `<placement><availabilityZone>eu-west-1a</availabilityZone><tenancy>default</tenancy></placement><vpcId>vpc-1</vpcId>` +
    `<subnetId>subnet-1</subnetId><privateIpAddress>10.0.0.1</privateIpAddress><architecture>x86_64</architecture>` +
    `<blockDeviceMapping>${disk}</blockDeviceMapping><networkInterfaceSet>${card}</networkInterfaceSet>` +
    `<tagSet>${tags.join('')}</tagSet></item></instancesSet></item>`
  );
}

/** @type {Serving | null} */
let serving = null;

process.on('message', (/** @type {Instructions | 'left'} */ instructions) => {
  const answered =
    instructions === 'left'
      ? Promise.resolve({ left: serving?.left() ?? [] })
      : SERVERS[instructions.kind](instructions).then((made) => {
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
