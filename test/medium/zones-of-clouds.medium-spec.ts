import type { DataSource } from 'typeorm';
import { AzureDriver } from '../../libs/compute-drivers/azure/azure-driver';
import type { CloudDriverOptions } from '../../libs/compute-drivers/cloud-driver';
import type { ComputeDriver } from '../../libs/compute-drivers/compute-driver';
import { GoogleDriver } from '../../libs/compute-drivers/google/google-driver';
import { OciDriver } from '../../libs/compute-drivers/oci/oci-driver';
import type { Place } from '../../libs/compute-drivers/place';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { FAKE_AZURE, FakeAzure } from '../fakes/clouds/fake-azure';
import { FakeGoogleCompute } from '../fakes/clouds/fake-google-compute';
import { FakeOci } from '../fakes/clouds/fake-oci';
import { ClusterLifecycle } from '../../src/modules/execution/clusters/lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { StartClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/start-cluster.workflow';
import { CLOUD_PROVIDER_ID, ReferenceData } from '../../src/modules/foundation/reference-data/reference-data';
import {
  Step,
  type StepOutcome,
  type WorkflowContext,
} from '../../src/platform/background/workflows/workflow-definition';
import { makeTenancy } from './harness/records';
import { WorkerApp } from './harness/worker-app';
import { setClusterStatus } from './harness/statuses';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

/** A running cloud, as its driver reaches it. */
interface Cloud {
  providerId: number;
  driver: ComputeDriver;
  credentials: Readonly<Record<string, string>>;
  place: Partial<Place> & { region: string };
  type: string;
  image: string;
  /** Returns the zones of its machines, as the cloud reports them. */
  zones(): string[];
  /** Makes the next request for a machine find no capacity in its zone. */
  fill(): void;
  /** Makes the next request for a machine exceed a quota; returns the message of the cloud. */
  exceed(): string;
  stop(): Promise<void>;
}

const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });
const options: Pick<CloudDriverOptions, 'bootScript' | 'outbound'> = {
  bootScript: ({ boot }) => `#!/bin/sh\n# ${boot.bootstrapToken}\n`,
  outbound,
};

async function google(): Promise<Cloud> {
  const fake = await FakeGoogleCompute.start();
  return {
    providerId: CLOUD_PROVIDER_ID.GCP,
    driver: new GoogleDriver({ ...options, endpoint: fake.url }),
    credentials: fake.credentials,
    place: {
      ...{ account: fake.project, region: 'europe-west1', zone: 'europe-west1-b' },
      ...{ networkAccount: 'host-project', network: 'shared', subnet: 'nodes' },
    },
    ...{ type: 'e2-standard-2', image: 'projects/images/global/images/spark' },
    zones: () => fake.all().map(({ zone }) => zone),
    fill: () =>
      fake.failOperation('insert', 'ZONE_RESOURCE_POOL_EXHAUSTED', 'The zone does not have enough resources.'),
    exceed() {
      const said = "Quota 'CPUS' exceeded. Limit: 24.0 in region europe-west1.";
      fake.failOperation('insert', 'QUOTA_EXCEEDED', said);
      return said;
    },
    stop: () => fake.stop(),
  };
}

async function azure(): Promise<Cloud> {
  const fake = await FakeAzure.start();
  const { group: account, networkGroup: networkAccount, network, subnet, region, zone, type, image } = FAKE_AZURE;
  const put = /^PUT .*\/virtualMachines\//;
  return {
    providerId: CLOUD_PROVIDER_ID.Azure,
    driver: new AzureDriver({ ...options, endpoint: fake.url, authority: fake.url, ca: fake.ca }),
    credentials: FAKE_AZURE.credentials,
    place: { account, networkAccount, network, subnet, region, zone },
    ...{ type, image },
    zones: () =>
      fake.names('virtualMachines').map((name) => {
        const [number = 'none'] = (fake.bodyOf('virtualMachines', name)?.['zones'] ?? []) as string[];
        return `${region}-${number}`;
      }),
    fill() {
      const message = 'Allocation failed.';
      fake.faults.push({ on: put, status: 409, code: 'ZonalAllocationFailed', message });
      // Azure keeps the network card for the failed machine.
      fake.faults.push({ on: put, status: 400, code: 'NicReservedForAnotherVm', message: 'Reserved for 180 seconds.' });
    },
    exceed() {
      const message =
        'Operation could not be completed as it results in exceeding approved Total Regional Cores quota.';
      fake.faults.push({ on: put, status: 409, code: 'OperationNotAllowed', message });
      return message;
    },
    stop: () => fake.stop(),
  };
}

async function oci(): Promise<Cloud> {
  const fake = await FakeOci.start();
  return {
    providerId: CLOUD_PROVIDER_ID.OCI,
    driver: new OciDriver({ ...options, endpoint: fake.url }),
    credentials: fake.credentials,
    place: { region: fake.region, zone: fake.zone, network: 'workspace', subnet: 'nodes & more' },
    ...{ type: 'VM.Standard.E4.Flex', image: fake.image },
    zones: () =>
      [...fake.instances.values()].map(({ fields }) => {
        const [, number = 'none'] = /-AD-(\d)$/.exec(String(fields['availabilityDomain'])) ?? [];
        return `${fake.region}-ad-${number}`;
      }),
    fill: () => fake.fail('LaunchInstance', { status: 500, code: 'InternalError', message: 'Out of host capacity.' }),
    exceed() {
      const message = 'The following service limits were exceeded: standard-e4-core-count.';
      fake.fail('LaunchInstance', { status: 400, code: 'LimitExceeded', message });
      return message;
    },
    stop: () => fake.stop(),
  };
}

// Real: the worker's services, PostgreSQL, the drivers, the SDKs. Stand-ins: the clouds. Left out: agents.
describe.each([
  ['Google Cloud', google, 'europe-west1-c'],
  ['Azure', azure, 'eastus-2'],
  ['Oracle Cloud', oci, 'eu-frankfurt-1-ad-3'],
])('a zone of %s without room', (_name, begin, next) => {
  const app = new WorkerApp({ AGENT_API_URL: 'http://platform.example.org:8080' });
  let dataSource: DataSource;
  let cloud: Cloud;
  let context: WorkflowContext<'cluster'>;
  let clusterId: number;

  beforeAll(async () => {
    ({ dataSource } = app);
    const reader = app.get(ClusterSnapshots);
    reader.withDriver = (_facts, { signal }, use) =>
      use(cloud.driver, { endpoint: null, credentials: cloud.credentials, correlationId: 'test', signal });
    const read = reader.read.bind(reader);
    reader.read = async (id) => {
      const facts = await read(id);
      const { place, type, image, providerId: cloudProviderId } = cloud;
      const zones = app.get(ReferenceData).zonesOf(cloudProviderId, place.region);
      const machine = { ...facts.machine, type };
      return { ...facts, cloudProviderId, machine, image, disks: null, zones, place: { ...facts.place, ...place } };
    };
  });

  beforeEach(async () => {
    jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    cloud = await begin();
    const tenancy = await makeTenancy(dataSource.manager, `tenant ${Date.now()}`);
    ({ clusterId } = tenancy);
    await setClusterStatus(dataSource.manager, clusterId, 'STOPPED');
    const lifecycle = app.get(ClusterLifecycle);
    const instanceId = await inTransaction(dataSource, async (tx) => {
      const cluster = await lifecycle.lockOrThrow(tx, clusterId);
      return (await lifecycle.beginOperation(tx, cluster, 'start', null, 'test')).workflow_job_instance_id;
    });
    context = {
      ...{ instanceId, subject: { kind: 'cluster', tenantId: tenancy.tenantId, id: clusterId }, actorUserId: null },
      ...{ requestedAt: new Date(), correlationId: 'test', signal: AbortSignal.timeout(60_000) },
    };
    expect(await step('plan-nodes')).toEqual(Step.done);
  });

  afterEach(async () => {
    await cloud.stop();
    jest.restoreAllMocks();
  });

  function step(name: string): Promise<StepOutcome> {
    const workflow = app.get(StartClusterWorkflow);
    return workflow.steps.find((one) => one.name === name)?.run(context) ?? Promise.reject(new Error(name));
  }

  const nodes = () => app.get(ClusterNodesRepository).ofCluster(clusterId);

  /** Repeats the steps, as the runner does, until every machine was accepted and runs; returns the delays. */
  async function provision(): Promise<number[]> {
    const waits: number[] = [];
    let name = 'provision-nodes';
    for (let time = 0; time < 40; time += 1) {
      const outcome = await step(name);
      if (outcome.kind === 'wait') waits.push(outcome.ms);
      if (outcome.kind === 'done') name = 'await-nodes';
      const all = await nodes();
      if (name === 'await-nodes' && all.every(({ no_room, seen_at }) => no_room === null && seen_at !== null))
        return waits;
    }
    throw new Error('The machines are never there');
  }

  it('is skipped, and one machine is created in the next one', async () => {
    cloud.fill();
    const waits = await provision();
    expect(cloud.zones()).toEqual([next]);
    expect(await nodes()).toMatchObject([{ attempt: 2, place: { zone: next }, error: null }]);
    // Azure keeps a network card for three minutes.
    if (cloud.providerId === CLOUD_PROVIDER_ID.Azure) expect(waits).toContain(180_000);
  });

  it('is not skipped for a quota, which fails the start and is named with the region', async () => {
    const said = cloud.exceed();
    const untilEnd = async () => {
      for (const name of ['provision-nodes', 'await-nodes', 'await-nodes']) await step(name);
    };
    const error = await untilEnd().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'PermanentError', message: expect.stringContaining(said) as string });
    const { message } = error as Error;
    expect(message).toContain(`does not allow another machine of type ${cloud.type} in region ${cloud.place.region}.`);
    for (const secret of Object.values(cloud.credentials).filter(
      (value) => value.length > 30 && !value.includes('ocid1'),
    ))
      expect(message).not.toContain(secret);
    expect(cloud.zones()).toEqual([]);
  });
});
