import type { ComputeDriver, DriverContext, NodeSpec, ProviderNodeState } from './compute-driver';

/** A driver under test, set up against its real counterpart or a fake one, and how to take that down. */
export interface DriverUnderTest {
  driver: ComputeDriver;
  /** A Spark version the driver has. */
  sparkVersion: string;
  close: () => Promise<void>;
}

const DEADLINE_MS = 20_000;

/** What every compute driver must hold, whatever its provider. */
export function describeComputeDriverContract(name: string, makeDriver: () => Promise<DriverUnderTest>): void {
  describe(`${name} holds the compute driver contract`, () => {
    let tested: DriverUnderTest;
    let driver: ComputeDriver;
    let context: DriverContext;
    let count = 0;

    beforeEach(async () => {
      tested = await makeDriver();
      driver = tested.driver;
      context = {
        endpoint: null,
        credentials: {},
        correlationId: 'contract',
        signal: AbortSignal.timeout(DEADLINE_MS),
      };
    });

    afterEach(async () => {
      for (const node of await driver.listOwned(context)) await driver.destroy(node.labels.nodeToken, context);
      await tested.close();
    });

    const spec = (): NodeSpec => {
      const nodeToken = `contract-${process.pid}-${++count}`;
      return {
        labels: { clusterId: '11', tenantId: '7', nodeToken },
        nodeNumber: 1,
        machineType: 'small',
        cores: 1,
        memoryMb: 512,
        disks: [{ gib: 20, type: 'local-lvm', iops: null, throughputMb: null, encrypted: false }],
        sparkVersion: tested.sparkVersion,
        userLabels: { team: 'data' },
        isSpot: false,
        enablePublicIp: false,
        agentApiUrl: 'http://127.0.0.1:9',
        bootstrapToken: 'secret-bootstrap-token',
      };
    };

    const settles = async (token: string, wanted: ProviderNodeState): Promise<void> => {
      const deadline = performance.now() + DEADLINE_MS;
      let seen: ProviderNodeState | undefined;
      while (seen !== wanted) {
        if (performance.now() > deadline) throw new Error(`node ${token} is ${seen}, not ${wanted}`);
        seen = (await driver.describe([token], context))[0]?.state;
      }
    };

    const owned = async (): Promise<string[]> =>
      (await driver.listOwned(context)).map((node) => node.labels.nodeToken).sort();

    it('makes a node that runs, with its labels, and tells it nowhere its secret', async () => {
      const wanted = spec();
      const made = await driver.provision(wanted, context);
      expect(made.labels).toEqual(wanted.labels);
      expect(made.providerRef).not.toBe('');
      await settles(wanted.labels.nodeToken, 'running');
      const [described] = await driver.describe([wanted.labels.nodeToken], context);
      expect(described).toMatchObject({ labels: wanted.labels, providerRef: made.providerRef, state: 'running' });
      expect(JSON.stringify([made, described, await driver.listOwned(context)])).not.toContain(wanted.bootstrapToken);
    });

    it('makes one node of two calls with one token, even at once', async () => {
      const wanted = spec();
      const [first, second] = await Promise.all([driver.provision(wanted, context), driver.provision(wanted, context)]);
      const third = await driver.provision(wanted, context);
      expect(second.providerRef).toBe(first.providerRef);
      expect(third.providerRef).toBe(first.providerRef);
      expect(await owned()).toEqual([wanted.labels.nodeToken]);
    });

    it('stops a node and brings it back, and either may be repeated', async () => {
      const wanted = spec();
      const token = wanted.labels.nodeToken;
      const { providerRef } = await driver.provision(wanted, context);
      await settles(token, 'running');
      await driver.stop(token, context);
      await driver.stop(token, context);
      await settles(token, 'stopped');
      expect((await driver.start(token, context)).providerRef).toBe(providerRef);
      await driver.start(token, context);
      await settles(token, 'running');
    });

    it('destroys a running and a stopped node, and one that is gone', async () => {
      const running = spec();
      const stopped = spec();
      await driver.provision(running, context);
      await driver.provision(stopped, context);
      await driver.stop(stopped.labels.nodeToken, context);
      for (const { labels } of [running, stopped, running]) await driver.destroy(labels.nodeToken, context);
      const nodes = await driver.describe([running.labels.nodeToken, stopped.labels.nodeToken], context);
      expect(nodes.map((node) => node.state)).toEqual(['gone', 'gone']);
      expect(await owned()).toEqual([]);
    });

    it('lists what it owns, running or not', async () => {
      const [first, second] = [spec(), spec()];
      await driver.provision(first, context);
      await driver.provision(second, context);
      await driver.stop(second.labels.nodeToken, context);
      expect(await owned()).toEqual([first.labels.nodeToken, second.labels.nodeToken].sort());
    });

    it('answers gone for a node it never made, and stops and destroys it without complaint', async () => {
      const token = spec().labels.nodeToken;
      expect(await driver.describe([token], context)).toMatchObject([{ state: 'gone', labels: { nodeToken: token } }]);
      await driver.stop(token, context);
      await driver.destroy(token, context);
      await expect(driver.start(token, context)).rejects.toMatchObject({ retryable: false });
    });

    it('refuses a Spark version it does not have, for good', async () => {
      const wanted = { ...spec(), sparkVersion: '0.0.0' };
      await expect(driver.provision(wanted, context)).rejects.toMatchObject({ retryable: false });
      expect(await owned()).toEqual([]);
    });
  });
}
