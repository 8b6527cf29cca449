import { FakeGoogleCompute } from '../../testing/fake-google-compute';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { ComputeDriverError, type NodeSpec } from '../compute-driver';
import { describeComputeDriverContract, plainNodeSpec } from '../compute-driver.contract';
import { GoogleDriver } from './google-driver';

const PLACE = {
  account: 'own-project',
  region: 'europe-west1',
  zone: 'europe-west1-b',
  networkAccount: 'host-project',
  network: 'shared',
  subnet: 'nodes',
  networkTags: ['spark', 'nodes'],
  networkCard: null,
  hosts: [],
};

function adapt(spec: NodeSpec): NodeSpec {
  return {
    ...spec,
    place: PLACE,
    image: 'projects/images/global/images/spark',
    machine: { ...spec.machine, type: 'e2-standard-2' },
    disks: [{ gib: 50, type: 'pd-ssd', iops: null, throughputMb: null, encrypted: true }],
  };
}

function driverFor(url: string): GoogleDriver {
  return new GoogleDriver({
    bootScript: (spec) => {
      if (spec.boot.sparkVersion !== '3.5.9')
        throw new ComputeDriverError('BOOT.SPARK_UNKNOWN', 'There is no such Spark.', { kind: 'invalid' });
      return `#!/bin/sh\n# ${spec.boot.bootstrapToken}\n`;
    },
    outbound: new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: [], allowedNetworks: ['127.0.0.1'] }),
    endpoint: url,
  });
}

describeComputeDriverContract('The Google driver', async () => {
  const fake = await FakeGoogleCompute.start();
  return {
    driver: driverFor(fake.url),
    sparkVersion: '3.5.9',
    account: { endpoint: null, credentials: fake.credentials },
    adapt,
    interrupt: (ref) => {
      const found = fake.all().find(({ labels }) => labels['platform_node'] === ref.nodeToken);
      fake.preempt(found?.name ?? '');
      return Promise.resolve();
    },
    close: () => fake.stop(),
  };
});
