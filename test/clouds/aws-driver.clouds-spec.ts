import { AwsDriver } from '../../libs/compute-drivers/aws/aws-driver';
import {
  type DriverContext,
  type NodeSpec,
  type SweepScope,
  ComputeDriverError,
} from '../../libs/compute-drivers/compute-driver';
import {
  describeComputeDriverContract,
  plainNodeSpec,
  refOf,
} from '../../libs/compute-drivers/compute-driver.contract';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { Ec2Proxy } from './harness/ec2-proxy';

// Real: the driver, the AWS SDK, the outbound policy. Stand-in: EC2, which is moto behind a proxy.

const SPARK = '3.5.3';
const REGION = 'us-east-1';
const SECRET = 'secret-key-of-the-account';
const IMAGE = 'ami-03cf127a';

const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });
const credentials = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: SECRET, AWS_DEFAULT_REGION: REGION };

function bootScript({ boot }: NodeSpec): string {
  if (boot.sparkVersion !== SPARK)
    throw new ComputeDriverError('NoSpark', 'There is no such Spark.', { kind: 'invalid' });
  return `#!/bin/sh\nTOKEN=${boot.bootstrapToken}\n`;
}

function adapt(spec: NodeSpec): NodeSpec {
  return {
    ...spec,
    image: IMAGE,
    machine: { ...spec.machine, type: 'm5.large' },
    place: { ...spec.place, region: REGION, zone: 'us-east-1a' },
    disks: [{ gib: 20, type: 'gp3', iops: 4000, throughputMb: 250, encrypted: true }],
  };
}

function motoUrl(): string {
  const url = process.env.TEST_EC2_URL;
  if (!url) throw new Error('TEST_EC2_URL is not set: jest.config.cjs prepares it');
  return url;
}

/** Returns the tags of the first resource in the response that has some. */
function tagsIn(answer: string): Record<string, string> {
  const [, set = ''] = /<tagSet>(.*?)<\/tagSet>/s.exec(answer) ?? [];
  const items = set.matchAll(/<key>([^<]*)<\/key>\s*<value>([^<]*)<\/value>/g);
  return Object.fromEntries([...items].map(([, key, value]) => [key, value]));
}

const driverAt = (endpoint: string) => new AwsDriver({ bootScript, outbound, endpoint });

describeComputeDriverContract('AwsDriver', async () => {
  const proxy = await Ec2Proxy.before(motoUrl());
  const driver = driverAt(proxy.url);
  const context = { endpoint: null, credentials, correlationId: 'test', signal: AbortSignal.timeout(240_000) };
  return {
    driver,
    sparkVersion: SPARK,
    account: { endpoint: null, credentials },
    adapt,
    async interrupt(ref) {
      const [node] = await driver.describe([ref], context);
      await proxy.interrupt(node?.providerRef ?? '');
    },
    async labelsOn(ref) {
      const [node] = await driver.describe([ref], context);
      const id = node?.providerRef ?? '';
      const filter = { 'Filter.1.Name': 'attachment.instance-id', 'Filter.1.Value.1': id };
      // moto does not tag network interfaces that it creates with a machine.
      const machine = await proxy.ask({ Action: 'DescribeInstances', 'InstanceId.1': id });
      return [machine, await proxy.ask({ Action: 'DescribeVolumes', ...filter })].map(tagsIn);
    },
    close: () => proxy.stop(),
  };
});

describe('AwsDriver', () => {
  let proxy: Ec2Proxy;
  let driver: AwsDriver;
  let context: DriverContext;
  let count = 0;
  const installation = `aws-${process.pid}`;

  beforeEach(async () => {
    proxy = await Ec2Proxy.before(motoUrl());
    driver = driverAt(proxy.url);
    context = { endpoint: null, credentials, correlationId: 'test', signal: AbortSignal.timeout(240_000) };
  });

  afterEach(async () => {
    driver = driverAt(proxy.url);
    for (const { labels } of await driver.listOwned(scope(), context))
      await driver.destroy({ ...refOf(spec()), nodeToken: labels.nodeToken }, context);
    await proxy.stop();
  });

  const spec = (values: Partial<NodeSpec> = {}): NodeSpec => {
    const plain = adapt(plainNodeSpec(`aws-${process.pid}-${++count}`, SPARK));
    return { ...plain, labels: { ...plain.labels, installationId: installation }, ...values };
  };
  const inPlace = (place: Partial<NodeSpec['place']>): NodeSpec => spec({ place: { ...spec().place, ...place } });
  const scope = () => ({ installationId: installation, place: spec().place });
  const sweep = (values: Partial<SweepScope> = {}) =>
    driver.sweep(
      {
        ...scope(),
        olderThan: new Date(Date.now() + 3_600_000),
        liveAmong: () => Promise.resolve(new Set()),
        ...values,
      },
      context,
    );
  const faultOf = (work: Promise<unknown>): Promise<ComputeDriverError> =>
    work.then(
      () => Promise.reject(new Error('it did not fail')),
      (error: ComputeDriverError) => error,
    );
  const owned = async () => (await driver.listOwned(scope(), context)).length;
  const launch = () => Object.fromEntries(proxy.callsOf('RunInstances').at(-1) ?? []);

  it('lists the zones in which a network has the subnet', async () => {
    const { place } = spec();
    const all = await driver.zones(place, context);
    expect(all).toEqual(expect.arrayContaining(['us-east-1a', 'us-east-1b']));
    expect(new Set(all).size).toBe(all.length);
    await driver.provision(spec(), context);
    const subnet = String(launch()['NetworkInterface.1.SubnetId']);
    expect(await driver.zones({ ...place, subnet, zone: 'us-east-1b' }, context)).toEqual(['us-east-1a']);
  });

  it('requests a machine with tokens for its metadata, disks that are deleted with it, and labels on all resources', async () => {
    await driver.provision(spec({ enablePublicIp: true }), context);
    expect(launch()).toMatchObject({
      'MetadataOptions.HttpTokens': 'required',
      'MetadataOptions.HttpPutResponseHopLimit': '1',
      'NetworkInterface.1.AssociatePublicIpAddress': 'true',
      'NetworkInterface.1.DeleteOnTermination': 'true',
      'BlockDeviceMapping.1.DeviceName': '/dev/sda1',
      'BlockDeviceMapping.1.Ebs.DeleteOnTermination': 'true',
      'BlockDeviceMapping.1.Ebs.Encrypted': 'true',
      'BlockDeviceMapping.2.DeviceName': '/dev/sdf',
      'BlockDeviceMapping.2.Ebs.VolumeType': 'gp3',
      'BlockDeviceMapping.2.Ebs.Iops': '4000',
      'BlockDeviceMapping.2.Ebs.Throughput': '250',
      'BlockDeviceMapping.2.Ebs.Encrypted': 'true',
      'BlockDeviceMapping.2.Ebs.DeleteOnTermination': 'true',
      'TagSpecification.1.ResourceType': 'instance',
      'TagSpecification.2.ResourceType': 'volume',
      'TagSpecification.3.ResourceType': 'network-interface',
      'TagSpecification.3.Tag.5.Key': 'team',
    });
  });

  it('requests a one-time spot machine, and an instance profile by name or ARN', async () => {
    proxy.fail('RunInstances', { status: 400, code: 'InvalidParameterValue', message: 'no' }, 2);
    await faultOf(driver.provision(spec({ market: 'spot', identity: 'spark' }), context));
    expect(launch()).toMatchObject({
      'InstanceMarketOptions.MarketType': 'spot',
      'InstanceMarketOptions.SpotOptions.SpotInstanceType': 'one-time',
      'IamInstanceProfile.Name': 'spark',
    });
    const identity = 'arn:aws:iam::123456789012:instance-profile/spark';
    await faultOf(driver.provision(spec({ identity }), context));
    expect(launch()).toMatchObject({ 'IamInstanceProfile.Arn': identity });
  });

  it('repeats a request without a response to the byte, and finds its machine', async () => {
    const wanted = spec();
    proxy.fail('RunInstances', 'lost');
    expect(await faultOf(driver.provision(wanted, context))).toMatchObject({ kind: 'transient' });
    // EC2 does not list it yet.
    proxy.fail('DescribeInstances', 'unseen');
    const made = await driver.provision(wanted, context);
    const [first, second] = proxy.callsOf('RunInstances').map(String);
    expect(second).toBe(first);
    expect(await owned()).toBe(1);
    expect((await driver.provision(wanted, context)).providerRef).toBe(made.providerRef);
  });

  it('uses the first machine if the repeated request differs', async () => {
    const wanted = spec();
    const made = await driver.provision(wanted, context);
    proxy.fail('DescribeInstances', 'unseen');
    const again = await driver.provision({ ...wanted, enablePublicIp: true }, context);
    expect(again.providerRef).toBe(made.providerRef);
  });

  it.each([
    [500, 'InsufficientInstanceCapacity', 'capacity', 'zone'],
    [400, 'Unsupported', 'capacity', 'zone'],
    [400, 'VcpuLimitExceeded', 'quota', 'region'],
    [400, 'MaxSpotInstanceCountExceeded', 'quota', 'region'],
    [503, 'RequestLimitExceeded', 'throttled', 'region'],
    [401, 'AuthFailure', 'denied', 'account'],
    [400, 'ExpiredToken', 'denied', 'account'],
    [503, 'Unavailable', 'transient', 'account'],
    [500, 'InternalError', 'transient', 'account'],
    [400, 'InvalidParameterValue', 'invalid', 'account'],
  ])('classifies %i %s as %s, does not retry, and masks secrets', async (status, code, kind, reach) => {
    proxy.fail('RunInstances', { status, code, message: `Words of EC2 about ${SECRET}` });
    const fault = await faultOf(driver.provision(spec(), context));
    expect(fault).toMatchObject({ name: 'ComputeDriverError', kind, scope: reach, code });
    expect(fault.message).toContain('Words of EC2');
    expect(fault.message).not.toContain(SECRET);
    expect(proxy.callsOf('RunInstances')).toHaveLength(1);
    expect(await owned()).toBe(0);
  });

  it('names a missing right without the encoded message of EC2', async () => {
    const message = `You are not authorized to perform: ec2:RunInstances. Encoded authorization failure message: ${'x'.repeat(3000)}`;
    proxy.fail('RunInstances', { status: 403, code: 'UnauthorizedOperation', message });
    const fault = await faultOf(driver.provision(spec(), context));
    expect(fault.kind).toBe('denied');
    expect(fault.message).toBe('UnauthorizedOperation: You are not authorized to perform: ec2:RunInstances.');
  });

  it.each<[string, () => NodeSpec]>([
    ['image', () => spec({ image: 'ami-00000000' })],
    ['image', () => spec({ image: 'ubuntu' })],
    ['subnet', () => inPlace({ subnet: 'subnet-00000000' })],
    ['subnet', () => inPlace({ subnet: 'none' })],
    ['zone', () => inPlace({ zone: 'us-east-1z' })],
    ['network', () => inPlace({ network: 'none' })],
    ['security group', () => inPlace({ networkTags: ['none'] })],
    ['none.large', () => spec({ machine: { ...spec().machine, type: 'none.large' } })],
    ['tag', () => spec({ userLabels: { 'aws:team': 'x' } })],
    ['label', () => spec({ userLabels: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`l${at}`, ''])) })],
    ['disks', () => spec({ disks: Array.from({ length: 12 }, () => spec().disks[0]).filter((disk) => !!disk) })],
  ])('refuses a spec that EC2 does not support (%s)', async (what, wanted) => {
    const fault = await faultOf(driver.provision(wanted(), context));
    expect(fault).toMatchObject({ name: 'ComputeDriverError', kind: 'invalid' });
    expect(fault.message).toContain(what);
    expect(await owned()).toBe(0);
  });

  it('refuses a boot script of more than 16 kB', async () => {
    driver = new AwsDriver({ bootScript: () => 'x'.repeat(16 * 1024 + 1), outbound, endpoint: proxy.url });
    expect(await faultOf(driver.provision(spec(), context))).toMatchObject({ kind: 'invalid' });
    expect(proxy.calls).toEqual([]);
  });

  it.each(['us-east-1.evil.example', 'a/b', '', 'us-east-1@host'])(
    'calls no host for the region %j',
    async (region) => {
      driver = new AwsDriver({ bootScript, outbound, endpoint: null });
      expect(await faultOf(driver.provision(inPlace({ region }), context))).toMatchObject({ code: 'InvalidRegion' });
    },
  );

  it('finds a subnet and security groups by their names', async () => {
    const vpcs = await proxy.ask({ Action: 'CreateVpc', CidrBlock: '10.9.0.0/16' });
    const [, vpcId = ''] = /<vpcId>([^<]+)</.exec(vpcs) ?? [];
    const subnets = await proxy.ask({
      ...{ Action: 'CreateSubnet', VpcId: vpcId, CidrBlock: '10.9.1.0/24', AvailabilityZone: 'us-east-1b' },
      ...{ 'TagSpecification.1.ResourceType': 'subnet', 'TagSpecification.1.Tag.1.Key': 'Name' },
      'TagSpecification.1.Tag.1.Value': 'nodes',
    });
    const [, subnetId = ''] = /<subnetId>([^<]+)</.exec(subnets) ?? [];
    const name = { GroupName: 'spark', GroupDescription: 'nodes' };
    const groups = await proxy.ask({ Action: 'CreateSecurityGroup', VpcId: vpcId, ...name });
    const [, groupId = ''] = /<groupId>([^<]+)</.exec(groups) ?? [];
    const place = { zone: 'us-east-1b', network: vpcId, subnet: 'nodes', networkTags: ['spark'] };
    await driver.provision(inPlace(place), context);
    expect(launch()).toMatchObject({
      'NetworkInterface.1.SubnetId': subnetId,
      'NetworkInterface.1.SecurityGroupId.1': groupId,
    });
  });

  it('times out if EC2 does not respond', async () => {
    proxy.fail('DescribeInstances', 'hangs');
    const fault = await faultOf(driver.provision(spec(), { ...context, signal: AbortSignal.timeout(200) }));
    expect(fault).toMatchObject({ code: 'Timeout', kind: 'transient' });
  });

  it('refuses the page of another server, and addresses that the outbound policy forbids', async () => {
    proxy.fail('RunInstances', 'page');
    expect(await faultOf(driver.provision(spec(), context))).toMatchObject({ kind: 'transient' });
    // A machine that is wrongly reported as gone would be left behind.
    await driver.provision(spec(), context);
    for (const call of [
      () => driver.destroy(refOf(spec()), context),
      () => driver.describe([refOf(spec())], context),
    ]) {
      proxy.fail('DescribeInstances', 'page');
      expect(await faultOf(call())).toMatchObject({ code: 'StrangeAnswer', kind: 'transient' });
    }
    const strict = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: [] });
    driver = new AwsDriver({ bootScript, outbound: strict, endpoint: proxy.url });
    expect(await faultOf(driver.provision(spec(), context))).toMatchObject({ code: 'AddressRefused' });
  });

  const apart = (nodeToken: string, installationId: string) => ({
    platform_installation: installationId,
    platform_cluster: '7_11',
    platform_node: nodeToken,
    platform_attempt: '1',
  });
  const joined = (nodeToken: string, installationId: string) => ({
    vm: `platform/${installationId}/7/11/${nodeToken}/1`,
  });

  it.each([
    ['in labels of their own', apart],
    ['in one label', joined],
  ])('sweeps leftovers with their owner %s, and none of other owners', async (_where, labelsOf) => {
    const make = async (nodeToken: string, installationId = installation): Promise<string[]> => {
      const labels = labelsOf(nodeToken, installationId);
      const tags = (kind: string) =>
        Object.fromEntries([
          ['TagSpecification.1.ResourceType', kind],
          ...Object.entries(labels).flatMap(([key, value], at) => [
            [`TagSpecification.1.Tag.${at + 1}.Key`, key],
            [`TagSpecification.1.Tag.${at + 1}.Value`, value],
          ]),
        ]) as Record<string, string>;
      const zone = { Size: '1', AvailabilityZone: 'us-east-1a' };
      const volume = await proxy.ask({ Action: 'CreateVolume', ...zone, ...tags('volume') });
      const address = await proxy.ask({ Action: 'AllocateAddress', Domain: 'vpc', ...tags('elastic-ip') });
      const subnets = await proxy.ask({ Action: 'DescribeSubnets' });
      const [, SubnetId = ''] = /<subnetId>([^<]+)</.exec(subnets) ?? [];
      const card = await proxy.ask({ Action: 'CreateNetworkInterface', SubnetId, ...tags('network-interface') });
      return [
        /<volumeId>([^<]+)</.exec(volume)?.[1] ?? '',
        /<allocationId>([^<]+)</.exec(address)?.[1] ?? '',
        /<networkInterfaceId>([^<]+)</.exec(card)?.[1] ?? '',
      ];
    };
    const [left, live] = [spec().labels.nodeToken, spec().labels.nodeToken];
    const [gone, kept, foreign] = [await make(left), await make(live), await make(spec().labels.nodeToken, 'others')];
    const liveAmong = (tokens: readonly string[]) => Promise.resolve(new Set(tokens.filter((token) => token !== left)));
    expect(await sweep({ liveAmong })).toEqual({ removed: [left], failed: [] });
    const there = (
      await Promise.all(
        ['DescribeVolumes', 'DescribeAddresses', 'DescribeNetworkInterfaces'].map((Action) => proxy.ask({ Action })),
      )
    ).join('');
    expect(gone.filter((id) => there.includes(id))).toEqual([]);
    expect([...kept, ...foreign].filter((id) => !there.includes(id))).toEqual([]);
  });
});
