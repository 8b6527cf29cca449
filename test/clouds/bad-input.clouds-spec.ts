import { INSTALLATION_LABEL } from '../../libs/compute-drivers/cloud-driver';
import { eventually } from '../harness/eventually';
import type { FakeAzure } from '../fakes/clouds/fake-azure';
import { newRsaPair } from '../harness/rsa-pair';
import type { ApiClient, Json } from '../e2e/harness/api-client';
import { destroyCluster, reachStatus, stateReason } from '../e2e/harness/estate';
import { PlatformUnderTest } from '../e2e/harness/platform';
import { QUICK_RECOVERY } from '../e2e/harness/survival';
import { encodedCredentials } from '../samples/sample';
import { type CloudDescription, describeCloud } from './harness/cloud-estate';
import { azure, google, oci, proxmox } from './harness/counterparts';
import { EC2_CREDENTIALS, EC2_IDS, EC2_IMAGE, Ec2Instances } from './harness/ec2-instances';
import { type Ec2Fault, Ec2Proxy } from './harness/ec2-proxy';

/** Time until the reason must be shown: a minute, and more because many clusters start at the same time. */
const REASON_TIMEOUT_MS = 240_000;

type Cloud = Omit<CloudDescription, 'name'>;

interface Case {
  what: string;
  /** The wrong fields of the description. */
  cloud?: Partial<Cloud>;
  /** Makes the provider refuse a valid description. Returns the function that restores it. */
  refuse?: () => () => void;
  words: string | RegExp;
}

interface Provider {
  env(folder: string): Record<string, string>;
  cloud: Cloud;
  /** Lists all resources of the installation at the provider. */
  left(installationId: string): Promise<unknown[]> | unknown[];
  cases: Case[];
  /** Labels that the provider refuses; empty if it accepts all. */
  labels: Record<string, string>;
  /** Makes all calls hang until the returned function is called. */
  hang(): () => void;
  stop(): Promise<void>;
}

const noKey = () => newRsaPair().privateKey;

async function aws(): Promise<Provider> {
  const proxy = await Ec2Proxy.before(process.env.TEST_EC2_URL ?? '');
  const all = new Ec2Instances(proxy.url, '');
  const { network_name, subnet } = await all.subnet();
  const key = 'AKIABADINPUT';
  const network = { network_project_id: 'account', network_name, subnet, network_tags: [] };
  const refuse = (action: string, fault: Ec2Fault) => () => {
    proxy.fail(action, fault, 100, { key });
    return () => void proxy.cancelFaults(key);
  };
  const error = (status: number, code: string, message: string) => ({ status, code, message });
  const ACTIONS = ['DescribeInstances', 'RunInstances', 'DescribeVolumes', 'DescribeSubnets', 'DescribeImages'];
  return {
    env: () => ({ COMPUTE_EC2_ENDPOINT: proxy.url }),
    cloud: {
      ...{
        ...EC2_IDS,
        credentials: { ...EC2_CREDENTIALS, AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: 'sEcReT/of+AWS' },
      },
      ...{ network, cloudProject: 'account', image: EC2_IMAGE },
    },
    left: async (installationId) => {
      const left = await all.withTag(INSTALLATION_LABEL, installationId);
      return left.filter(({ State }) => State?.Name !== 'terminated');
    },
    cases: [
      {
        what: 'wrong keys',
        refuse: refuse('DescribeInstances', error(401, 'AuthFailure', 'AWS was not able to validate the credentials')),
        words: 'not able to validate',
      },
      {
        what: 'expired keys',
        refuse: refuse('DescribeInstances', error(400, 'RequestExpired', 'Request has expired.')),
        words: 'Request has expired',
      },
      {
        what: 'keys without a right',
        refuse: refuse('RunInstances', error(403, 'UnauthorizedOperation', 'You are not authorized to do this.')),
        words: 'not authorized',
      },
      {
        what: 'an image that does not exist',
        cloud: { image: 'ami-0123456789abcdef0' },
        words: 'ami-0123456789abcdef0',
      },
      {
        what: 'a subnet that does not exist',
        cloud: { network: { ...network, subnet: 'subnet-0123456789abcdef0' } },
        words: 'no subnet "subnet-0123456789abcdef0"',
      },
      { what: 'a zone without the subnet', cloud: { zoneId: EC2_IDS.zoneId + 1 }, words: /no subnet .* in the zone/ },
      {
        what: 'a machine type that does not exist',
        refuse: refuse('RunInstances', error(400, 'InvalidParameterValue', 'Invalid value for InstanceType.')),
        words: 'Invalid value for InstanceType',
      },
      {
        what: 'a quota of zero',
        refuse: refuse('RunInstances', error(400, 'VcpuLimitExceeded', 'Your current vCPU limit of 0 is too low.')),
        words: 'vCPU limit of 0',
      },
    ],
    labels: { 'aws:owner': 'we' },
    hang: () => {
      for (const action of ACTIONS) proxy.fail(action, 'hangs', 100, { key });
      return () => void proxy.cancelFaults(key);
    },
    stop: () => proxy.stop(),
  };
}

async function ofGoogle(): Promise<Provider> {
  const { fake, cloud, ...rest } = await google();
  const without = (set: Set<string>, one: string) => () => {
    set.delete(one);
    return () => void set.add(one);
  };
  return {
    ...{ ...rest, cloud },
    left: () => [...fake.all(), ...fake.leftOvers()],
    cases: [
      { what: 'wrong keys', cloud: withKeys(cloud, { PRIVATE_KEY: noKey() }), words: 'authentication credentials' },
      {
        what: 'keys without a right',
        refuse: () => {
          fake.lacking.add('compute.instances.create');
          return () => void fake.lacking.clear();
        },
        words: "Required 'compute.instances.create'",
      },
      {
        what: 'an image that does not exist',
        cloud: { image: 'projects/images/global/images/none' },
        words: 'images/none',
      },
      {
        what: 'a subnet that does not exist',
        cloud: { network: { ...cloud.network, subnet: 'none' } },
        words: 'subnetworks/none',
      },
      { what: 'a zone that does not exist', refuse: without(fake.zones, 'europe-west1-b'), words: 'europe-west1-b' },
      {
        what: 'a machine type that does not exist',
        refuse: without(fake.machineTypes, 'e2-standard-2'),
        words: 'Machine type does not exist',
      },
      {
        what: 'a quota of zero',
        refuse: () => {
          fake.failOperation('insert', 'QUOTA_EXCEEDED', "Quota 'CPUS' exceeded. Limit: 0.0 in region europe-west1.");
          return () => undefined;
        },
        words: "Quota 'CPUS' exceeded",
      },
    ],
    labels: { Owner: 'we' },
    hang: () => hanging(fake),
  };
}

async function ofAzure(): Promise<Provider> {
  const { fake, cloud, ...rest } = await azure();
  const refuse = (code: string, message: string) => () => {
    fake.faults.push({ on: /^PUT .*\/virtualMachines\//, status: 400, code, message, times: 100 });
    return () => void fake.faults.splice(0);
  };
  return {
    ...{ ...rest, cloud },
    left: () => azureThings(fake),
    cases: [
      { what: 'wrong keys', cloud: withKeys(cloud, { CLIENT_SECRET: 'wRoNg~client.secret' }), words: 'AADSTS7000215' },
      {
        what: 'keys without a right',
        refuse: () => {
          const message = 'The client does not have authorization to perform action.';
          fake.faults.push({ on: /^PUT /, status: 403, code: 'AuthorizationFailed', message, times: 100 });
          return () => void fake.faults.splice(0);
        },
        words: 'does not have authorization',
      },
      {
        what: 'an image that does not exist',
        cloud: { image: 'a:b:c:latest' },
        words: "'a:b:c:latest' is not available",
      },
      { what: 'a subnet that does not exist', cloud: { network: { ...cloud.network, subnet: 'none' } }, words: /none/ },
      {
        what: 'a machine type that does not exist',
        refuse: refuse('InvalidParameter', 'The value Standard_None provided for the VM size is not valid.'),
        words: 'VM size is not valid',
      },
      {
        what: 'a quota of zero',
        refuse: () => {
          fake.maxMachines = 0;
          return () => void (fake.maxMachines = Infinity);
        },
        words: /quota/i,
      },
    ],
    labels: { 'a<b': 'we' },
    hang: () => hanging(fake),
  };
}

async function ofOci(): Promise<Provider> {
  const { fake, cloud, ...rest } = await oci();
  const refuse = (status: number, code: string, message: string) => () => {
    const refusal = { status, code, message };
    fake.fail('LaunchInstance', refusal);
    return () => undefined;
  };
  return {
    ...{ ...rest, cloud },
    left: () => fake.running(),
    cases: [
      {
        what: 'wrong keys',
        cloud: withKeys(cloud, { OCI_PRIVATE_KEY: noKey() }),
        words: 'required information to complete authentication',
      },
      {
        what: 'keys without a right',
        refuse: refuse(404, 'NotAuthorizedOrNotFound', 'Authorization failed or requested resource not found.'),
        words: 'Authorization failed',
      },
      { what: 'an image that does not exist', cloud: { image: 'ocid1.image.oc1..none' }, words: 'resource not found' },
      { what: 'a subnet that does not exist', cloud: { network: { ...cloud.network, subnet: 'none' } }, words: 'none' },
      {
        what: 'a quota of zero',
        refuse: refuse(400, 'LimitExceeded', 'The following service limits were exceeded: standard-core-count.'),
        words: 'service limits were exceeded',
      },
    ],
    labels: { 'a.b': 'we' },
    hang: () => {
      fake.fail('ListInstances', ...Array.from({ length: 100 }, () => 'hangs' as const));
      return () => fake.fail('ListInstances');
    },
  };
}

async function ofProxmox(): Promise<Provider> {
  const { fake, cloud, ...rest } = await proxmox();
  return {
    ...{ ...rest, cloud },
    left: () => [...fake.machines.machines.values()].filter(({ isTemplate }) => !isTemplate),
    cases: [
      {
        what: 'a wrong password',
        cloud: withKeys(cloud, { PASSWORD: 'wRoNg password' }),
        words: 'authentication failure',
      },
      { what: 'a template that does not exist', cloud: { image: 'none' }, words: 'none' },
      {
        what: 'a bridge that does not exist',
        cloud: { network: { bridge: 'vmbr9', model: 'virtio' } },
        words: 'vmbr9',
      },
      {
        what: 'a machine that cannot start',
        refuse: () => {
          fake.machines.failing.set('qmstart', 'no space left');
          return () => fake.machines.failing.clear();
        },
        words: 'no space left',
      },
    ],
    labels: {},
    hang: () => hanging(fake),
  };
}

function withKeys({ credentials }: Cloud, wrong: Record<string, string>): Partial<Cloud> {
  return { credentials: { ...credentials, ...wrong } };
}

function hanging(fake: { answerWith(listener: (() => void) | null): void }): () => void {
  fake.answerWith(() => undefined);
  return () => fake.answerWith(null);
}

function azureThings(fake: FakeAzure): string[] {
  return (['virtualMachines', 'disks', 'networkInterfaces'] as const).flatMap((kind) => fake.names(kind));
}

const PROVIDERS: Readonly<Record<string, () => Promise<Provider>>> = {
  aws,
  google: ofGoogle,
  azure: ofAzure,
  oci: ofOci,
  proxmox: ofProxmox,
};

// Real: API, worker, drivers, SDKs. Stand-ins: the providers. No machine gets as far as an agent.
describe('a wrong description of a cluster', () => {
  const providers = new Map<string, Provider>();
  let platform: PlatformUnderTest;
  let client: ApiClient;
  let installationId: string;

  beforeAll(async () => {
    platform = await PlatformUnderTest.create({ name: 'bad-input' });
    let env: Record<string, string> = QUICK_RECOVERY;
    for (const [name, start] of Object.entries(PROVIDERS)) {
      const provider = await start();
      providers.set(name, provider);
      env = { ...env, ...provider.env(platform.sharedDir) };
    }
    await platform.startApi(env);
    await platform.startWorker(env);
    client = await platform.admin();
    const [row] = await platform.sql<{ installation_id: string }>('SELECT installation_id FROM installation');
    installationId = row?.installation_id ?? '';
  });

  afterAll(async () => {
    await platform?.close();
    for (const provider of providers.values()) await provider.stop();
  });

  /** Runs the work for all providers at once, and reports all failures together. */
  async function ofEach(work: (provider: Provider, title: string) => Promise<void>): Promise<void> {
    const results = await Promise.allSettled([...providers].map(([title, provider]) => work(provider, title)));
    const failed = results.filter((result) => result.status === 'rejected').map(({ reason }) => String(reason));
    expect(failed).toEqual([]);
  }

  async function describeCluster(name: string, cloud: Cloud): Promise<object> {
    const estate = await describeCloud(client, platform.runtime.sparkVersion, { name, ...cloud });
    const one = { cluster_type: 'PLATFORM', min_instances: 1, max_instances: 1 };
    return { name, ...estate, ...one, is_spot_instance: false, enable_public_ip: false };
  }

  /** Returns all texts of the API about the failure. */
  async function reasonsOf(clusterId: number): Promise<{ cluster: string; node: string }> {
    const { data: events } = await client.get('/cluster/node/events', { cluster_id: clusterId, limit: 10 });
    const reasons: string[] = events.map(({ reason }: Json) => String(reason));
    const errors: string[] = [];
    for (const { node_status_id } of events) {
      const { data } = await client.get(`/cluster/${clusterId}/errors`, { node_status_id, limit: 10 });
      errors.push(...data.map(({ error }: Json) => String(error)));
    }
    return { cluster: await stateReason(client, clusterId), node: [...reasons, ...errors].join('\n') };
  }

  function expectNoSecret(credentials: Record<string, string>, ...texts: string[]): void {
    const secrets = Object.entries(credentials).flatMap(([name, value]) => {
      if (name.endsWith('PRIVATE_KEY')) return [keyLine(value)];
      return /SECRET|PASSWORD/.test(name) ? [value] : [];
    });
    for (const secret of secrets)
      for (const text of [...texts, platform.workerLog(), platform.apiLog()]) expect(text).not.toContain(secret);
  }

  async function expectReason(provider: Provider, name: string, { cloud = {}, refuse, words }: Case): Promise<void> {
    const described = { ...provider.cloud, ...cloud };
    const clusterId = Number((await client.post('/cluster', await describeCluster(name, described))).cluster_id);
    const undo = refuse?.();
    try {
      await client.post('/cluster/start', { cluster_id: clusterId });
      await reachStatus(client, clusterId, 'ERROR', REASON_TIMEOUT_MS);
      const { cluster, node } = await reasonsOf(clusterId);
      expect(cluster).toMatch(textOf(words));
      expect(node).toMatch(textOf(words));
      expectNoSecret(described.credentials, cluster, node);
    } finally {
      undo?.();
    }
    if (cloud.credentials) {
      const keys = { base64_encoded_credentials: encodedCredentials(provider.cloud.credentials) };
      await client.put('/credential_config', keys, 201, { query: { credentials_conf_name: name } });
    }
    await destroyCluster(client, clusterId);
    expect(await provider.left(installationId)).toEqual([]);
  }

  it('is reported at the node and in the history, and leaves no machine behind', () =>
    ofEach(async (provider, title) => {
      const wrong: string[] = [];
      for (const [at, one] of provider.cases.entries())
        await expectReason(provider, `${title}-${at}`, one).catch((error: unknown) => {
          wrong.push(`${title}, ${one.what}: ${String(error)}`);
        });
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    }));

  it('is refused at creation if the provider would refuse its labels', () =>
    ofEach(async ({ cloud, labels }, title) => {
      if (Object.keys(labels).length === 0) return;
      const body = await describeCluster(`${title}-labels`, cloud);
      await client.post('/cluster', { ...body, labels }, 400);
    }));

  it('is reported within a minute if the provider does not respond', () =>
    ofEach(async ({ cloud, hang }, title) => {
      const body = await describeCluster(`${title}-hangs`, cloud);
      const clusterId = Number((await client.post('/cluster', body)).cluster_id);
      const answer = hang();
      try {
        await client.post('/cluster/start', { cluster_id: clusterId });
        await eventually(async () => /not answer/.test((await reasonsOf(clusterId)).node), {
          ...{ timeoutMs: REASON_TIMEOUT_MS, everyMs: 500, what: `that nothing answers of ${title}` },
        });
      } finally {
        answer();
      }
    }));
});

/** Returns a line that is unique to the key. */
function keyLine(pem: string): string {
  return pem.split('\n')[3] ?? pem;
}

function textOf(words: string | RegExp): RegExp {
  return typeof words === 'string' ? new RegExp(words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')) : words;
}
