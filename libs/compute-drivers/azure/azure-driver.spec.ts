import { FAKE_AZURE, FakeAzure } from '../../testing/fake-azure';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { ComputeDriverError, type NodeSpec } from '../compute-driver';
import { describeComputeDriverContract } from '../compute-driver.contract';
import { AzureDriver } from './azure-driver';
import { nodeNames } from './azure-requests';

const VERSION = '3.5.3';
const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] });

/** A driver of a script that says what it was made for. */
function driverOf(fake: FakeAzure, ca = fake.ca): AzureDriver {
  return new AzureDriver({
    ...{ outbound, endpoint: fake.url, authority: fake.url, ca },
    bootScript: ({ boot, labels }, notice) => {
      if (boot.sparkVersion !== VERSION)
        throw new ComputeDriverError('NODE.SPARK', 'No such Spark.', { kind: 'invalid' });
      return `#!/bin/sh\n# ${labels.nodeToken} ${notice ?? 'none'} ${boot.bootstrapToken}\n`;
    },
  });
}

function adapted(spec: NodeSpec): NodeSpec {
  const { group: account, networkGroup: networkAccount, network, subnet, region, zone, type, image } = FAKE_AZURE;
  return {
    ...spec,
    image,
    place: { ...spec.place, account, networkAccount, network, subnet, region, zone },
    machine: { ...spec.machine, type },
    disks: [{ gib: 20, type: 'Premium_LRS', iops: null, throughputMb: null, encrypted: false }],
  };
}

describeComputeDriverContract('AzureDriver', async () => {
  const fake = await FakeAzure.start();
  return {
    driver: driverOf(fake),
    sparkVersion: VERSION,
    account: { endpoint: null, credentials: FAKE_AZURE.credentials },
    adapt: adapted,
    interrupt: ({ nodeToken }) => Promise.resolve(fake.evict(nodeNames(nodeToken).machine)),
    close: () => fake.stop(),
  };
});
