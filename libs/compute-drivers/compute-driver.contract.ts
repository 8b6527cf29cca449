import type { ComputeDriver, DriverContext, NodeRef, NodeSpec, ProviderNodeState, SweepScope } from './compute-driver';

/** A driver under test, connected to a real or fake provider. */
export interface DriverUnderTest {
  driver: ComputeDriver;
  /** A Spark version that the driver supports. */
  sparkVersion: string;
  /** Endpoint and credentials of the provider; empty if absent. */
  account?: Pick<DriverContext, 'endpoint' | 'credentials'>;
  /** Replaces place, image and machine type by those that the provider has. */
  adapt?(spec: NodeSpec): NodeSpec;
  /** Interrupts a spot machine; absent if the provider has none. */
  interrupt?(ref: NodeRef): Promise<void>;
  /** Labels that a cluster may have at this provider; 50 if absent. */
  maxLabels?: number;
  /** Returns the labels of each resource of the node; absent if the provider has none. */
  labelsOn?(ref: NodeRef): Promise<Record<string, string>[]> | Record<string, string>[];
  close(): Promise<void>;
}

const DEADLINE_MS = 120_000;

export function plainNodeSpec(nodeToken: string, sparkVersion: string): NodeSpec {
  return {
    labels: { installationId: 'own', tenantId: '7', clusterId: '11', nodeToken },
    nodeNumber: 1,
    attempt: 1,
    place: {
      ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
      ...{ networkTags: [], networkCard: null, hosts: [] },
    },
    machine: { type: 'small', architecture: 'x86_64', cores: 1, memoryMb: 512, gpu: null },
    image: 'image',
    disks: [{ gib: 20, type: 'local-lvm', iops: null, throughputMb: null, encrypted: false }],
    market: 'on-demand',
    enablePublicIp: false,
    blockProjectSshKeys: true,
    identity: null,
    userLabels: { team: 'data' },
    boot: { sparkVersion, agentApiUrl: 'http://127.0.0.1:9', bootstrapToken: 'secret-bootstrap-token' },
  };
}

/** Returns the reference of a node whose provider has not responded yet. */
export function refOf({ labels, attempt, place }: NodeSpec): NodeRef {
  return { nodeToken: labels.nodeToken, attempt, providerRef: null, place, acceptedAt: null };
}

/** Tests that every compute driver must pass, whatever its provider. */
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
        ...(tested.account ?? { endpoint: null, credentials: {} }),
        correlationId: 'contract',
        signal: AbortSignal.timeout(DEADLINE_MS),
      };
    });

    afterEach(async () => {
      for (const installationId of ['own', 'other'])
        for (const { labels } of await driver.listOwned(scopeOf(installationId), context))
          await driver.destroy({ ...refOf(spec()), nodeToken: labels.nodeToken }, context);
      await tested.close();
    });

    const spec = (values: Partial<NodeSpec> = {}): NodeSpec => {
      const plain = plainNodeSpec(`contract-${process.pid}-${++count}`, tested.sparkVersion);
      return { ...(tested.adapt?.(plain) ?? plain), ...values };
    };

    const specOfOtherInstallation = (): NodeSpec => {
      const plain = spec();
      return { ...plain, labels: { ...plain.labels, installationId: 'other' } };
    };

    const scopeOf = (installationId: string) => ({ installationId, place: spec().place });

    const stateOf = async (ref: NodeRef): Promise<ProviderNodeState | undefined> =>
      (await driver.describe([ref], context))[0]?.state;

    const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
      const deadline = performance.now() + DEADLINE_MS;
      while (!(await holds())) if (performance.now() > deadline) throw new Error(`Timed out: ${what}`);
    };

    const settles = (ref: NodeRef, wanted: ProviderNodeState): Promise<void> =>
      until(`${ref.nodeToken} is ${wanted}`, async () => (await stateOf(ref)) === wanted);

    const stops = (ref: NodeRef): Promise<void> =>
      until(`${ref.nodeToken} is stopped`, async () => (await driver.stop(ref, context)) === 'stopped');

    const goes = (ref: NodeRef): Promise<void> =>
      until(`${ref.nodeToken} is gone`, async () => (await driver.destroy(ref, context)) === 'gone');

    const owned = async (installationId = 'own'): Promise<string[]> =>
      (await driver.listOwned(scopeOf(installationId), context)).map((node) => node.labels.nodeToken).sort();

    const sweep = (live: readonly string[], values: Partial<SweepScope> = {}) =>
      driver.sweep(
        {
          ...scopeOf('own'),
          olderThan: new Date(Date.now() + 3_600_000),
          liveAmong: (tokens) => Promise.resolve(new Set(tokens.filter((token) => live.includes(token)))),
          ...values,
        },
        context,
      );

    it('creates a node that runs and has its labels, and reveals no secret', async () => {
      const wanted = spec();
      const began = Date.now();
      const made = await driver.provision(wanted, context);
      expect(made.labels).toEqual(wanted.labels);
      expect(made.providerRef).not.toBe('');
      expect(['pending', 'running']).toContain(made.state);
      await settles(refOf(wanted), 'running');
      const [described] = await driver.describe([refOf(wanted)], context);
      expect(described).toMatchObject({ labels: wanted.labels, providerRef: made.providerRef, fault: null });
      expect(described?.privateIp).not.toBeNull();
      // Clocks of providers differ, and some report whole seconds.
      expect(Math.abs((described?.createdAt?.getTime() ?? 0) - began)).toBeLessThan(60_000);
      const shown = JSON.stringify([made, described, await driver.listOwned(scopeOf('own'), context)]);
      expect(shown).not.toContain(wanted.boot.bootstrapToken);
    });

    it('creates one machine for repeated and concurrent calls of one attempt', async () => {
      const wanted = spec();
      const [first, second] = await Promise.all([driver.provision(wanted, context), driver.provision(wanted, context)]);
      const third = await driver.provision(wanted, context);
      expect(second.providerRef).toBe(first.providerRef);
      expect(third.providerRef).toBe(first.providerRef);
      expect(await owned()).toEqual([wanted.labels.nodeToken]);
    });

    it('creates the machine of another attempt only once that of the attempt before is gone', async () => {
      const first = spec();
      const second = { ...first, attempt: 2 };
      await driver.provision(first, context);
      await expect(driver.provision(second, context)).rejects.toMatchObject({ kind: 'transient' });
      await settles(refOf(first), 'running');
      await goes(refOf(first));
      await driver.provision(second, context);
      await settles(refOf(second), 'running');
      expect(await owned()).toEqual([first.labels.nodeToken]);
    });

    it('describes nodes in the order of the references', async () => {
      const [first, second, never] = [spec(), spec(), spec()];
      await driver.provision(first, context);
      await driver.provision(second, context);
      const specs = [second, never, first];
      const nodes = await driver.describe(specs.map(refOf), context);
      expect(nodes.map(({ labels }) => labels.nodeToken)).toEqual(specs.map(({ labels }) => labels.nodeToken));
      expect(await driver.describe([], context)).toEqual([]);
    });

    it('stops a node and starts the same machine again, both repeatable, unless it cannot stop machines', async () => {
      const wanted = spec();
      const ref = refOf(wanted);
      const { providerRef } = await driver.provision(wanted, context);
      await settles(ref, 'running');
      const { market, machine } = wanted;
      if (!driver.canStop({ market, type: machine.type })) return;
      await stops(ref);
      expect(await driver.stop(ref, context)).toBe('stopped');
      await settles(ref, 'stopped');
      expect((await driver.start(ref, context)).providerRef).toBe(providerRef);
      await driver.start(ref, context);
      await settles(ref, 'running');
    });

    it('destroys a running node, a stopped one, and one that is gone', async () => {
      const [running, stopped] = [spec(), spec()];
      await driver.provision(running, context);
      await driver.provision(stopped, context);
      await settles(refOf(stopped), 'running');
      await stops(refOf(stopped));
      for (const one of [running, stopped, running]) await goes(refOf(one));
      for (const one of [running, stopped]) await settles(refOf(one), 'gone');
      expect(await owned()).toEqual([]);
    });

    it('lists the nodes of its installation, running or stopped, and none of another', async () => {
      const [first, second, foreign] = [spec(), spec(), specOfOtherInstallation()];
      for (const one of [first, second, foreign]) await driver.provision(one, context);
      await settles(refOf(second), 'running');
      await stops(refOf(second));
      expect(await owned()).toEqual([first, second].map(({ labels }) => labels.nodeToken).sort());
      expect(await owned('other')).toEqual([foreign.labels.nodeToken]);
    });

    it('sweeps the machines of its installation that are old enough and belong to no live node', async () => {
      const [wanted, orphan, foreign] = [spec(), spec(), specOfOtherInstallation()];
      for (const one of [wanted, orphan, foreign]) await driver.provision(one, context);
      const { nodeToken } = orphan.labels;
      const young = await sweep([wanted.labels.nodeToken], { olderThan: new Date(Date.now() - 3_600_000) });
      expect(young).toEqual({ removed: [], failed: [] });
      expect(await sweep([wanted.labels.nodeToken])).toEqual({ removed: [nodeToken], failed: [] });
      // A sweep requests the termination of a machine; the next sweeps finish it.
      await until('the orphan is gone', async () => {
        await sweep([wanted.labels.nodeToken]);
        return (await stateOf(refOf(orphan))) === 'gone';
      });
      expect([await owned(), await owned('other')]).toEqual([[wanted.labels.nodeToken], [foreign.labels.nodeToken]]);
    });

    it('puts all labels of a cluster on its nodes, and recognizes the nodes by their labels', async () => {
      const { maxLabels = 50 } = tested;
      const own = Array.from({ length: maxLabels - 3 }, (_, at) => [`label${at}`, `value${at}`] as const);
      const userLabels = { resource: 'product', vm: 'product_node', tenant_id: '7', ...Object.fromEntries(own) };
      const [full, foreign, orphan] = [
        spec({ userLabels }),
        { ...specOfOtherInstallation(), userLabels },
        spec({ userLabels }),
      ];
      for (const one of [full, foreign, orphan]) {
        await driver.provision(one, context);
        await settles(refOf(one), 'running');
      }
      const { vm: _, ...kept } = userLabels;
      const parts = tested.labelsOn === undefined ? null : await tested.labelsOn(refOf(full));
      if (parts !== null) expect(parts.length).toBeGreaterThan(0);
      for (const labels of parts ?? []) expect(labels).toMatchObject(kept);
      expect((await driver.provision(full, context)).labels).toEqual(full.labels);
      expect(await owned()).toEqual([full, orphan].map(({ labels }) => labels.nodeToken).sort());
      expect((await sweep([full.labels.nodeToken])).removed).toEqual([orphan.labels.nodeToken]);
      if (driver.canStop({ market: full.market, type: full.machine.type })) await stops(refOf(full));
      await goes(refOf(full));
      expect(await owned('other')).toEqual([foreign.labels.nodeToken]);
    });

    it('reports an interrupted spot node with a reason, and does not start it', async () => {
      const wanted = spec({ market: 'spot' });
      const ref = refOf(wanted);
      if (!tested.interrupt) {
        await expect(driver.provision(wanted, context)).rejects.toMatchObject({ kind: 'invalid' });
        return expect(await owned()).toEqual([]);
      }
      await driver.provision(wanted, context);
      await settles(ref, 'running');
      await tested.interrupt(ref);
      await settles(ref, 'interrupted');
      expect((await driver.describe([ref], context))[0]?.fault?.message).toBeTruthy();
      await expect(driver.start(ref, context)).rejects.toMatchObject({ name: 'ComputeDriverError' });
      await goes(ref);
      await settles(ref, 'gone');
    });

    it('reports a node that it never created as gone, and stops and destroys it without an error', async () => {
      const ref = refOf(spec());
      const { nodeToken } = ref;
      expect(await driver.describe([ref], context)).toMatchObject([{ state: 'gone', labels: { nodeToken } }]);
      expect(await driver.stop(ref, context)).toBe('stopped');
      expect(await driver.destroy(ref, context)).toBe('gone');
      await expect(driver.start(ref, context)).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('refuses a Spark version that it does not support as invalid', async () => {
      const plain = spec();
      const wanted = { ...plain, boot: { ...plain.boot, sparkVersion: '0.0.0' } };
      await expect(driver.provision(wanted, context)).rejects.toMatchObject({ kind: 'invalid' });
      expect(await owned()).toEqual([]);
    });
  });
}
