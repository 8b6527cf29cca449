import { FakeOci } from '../../testing/fake-oci';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { type BootScript } from '../cloud-driver';
import { ComputeDriverError, type NodeSpec } from '../compute-driver';
import { describeComputeDriverContract } from '../compute-driver.contract';
import { machineName } from './oci-launch';
import { OciDriver } from './oci-driver';

const SPARK = '3.5.3';

const bootScript: BootScript = ({ boot }) => {
  if (boot.sparkVersion !== SPARK)
    throw new ComputeDriverError('SparkUnknown', 'There is no such Spark.', { kind: 'invalid' });
  return `#!/bin/sh\n# ${boot.bootstrapToken}\n`;
};

const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });

function driverOn(fake: FakeOci): OciDriver {
  return new OciDriver({ bootScript, outbound, endpoint: fake.url });
}

/** A node as the counterpart has place for. */
function adapted(fake: FakeOci, spec: NodeSpec): NodeSpec {
  return {
    ...spec,
    place: { ...spec.place, region: fake.region, zone: fake.zone, subnet: 'nodes & more', network: 'workspace' },
    machine: { ...spec.machine, type: 'VM.Standard.E4.Flex', cores: 4, memoryMb: 16_384 },
    image: fake.image,
    disks: [{ gib: 50, type: 'block-volume', iops: null, throughputMb: null, encrypted: false }],
  };
}

describeComputeDriverContract('OCI driver', async () => {
  const fake = await FakeOci.start({ pageSize: 3 });
  return {
    driver: driverOn(fake),
    sparkVersion: SPARK,
    account: { endpoint: null, credentials: fake.credentials },
    adapt: (spec) => adapted(fake, spec),
    interrupt: ({ nodeToken }) => Promise.resolve(fake.preempt(machineName(nodeToken))),
    close: async () => {
      await fake.stop();
      expect(fake.ownFaults).toEqual([]);
    },
  };
});
