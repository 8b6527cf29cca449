import {
  ComputeDriverError,
  type FaultScope,
  goneNode,
  type NodeRef,
  type NodeSpec,
  type ProviderNode,
} from '../../../libs/compute-drivers/compute-driver';

interface Machine {
  nodeToken: string;
  attempt: number;
  zone: string;
  state: ProviderNode['state'];
  /** The number of looks until the machine is gone; null while nobody ends it. */
  ends: number | null;
}

/** Thrown in the place where a test kills the worker. */
export class Killed extends Error {}

/** A provider of one region, some of whose zones have no capacity. It records every request for a machine. */
export class ZonedProvider {
  readonly machines: Machine[] = [];
  /** `node/attempt zone` of every request that arrived for a machine. */
  readonly requests: string[] = [];
  readonly full = new Set<string>();
  /** True if the provider accepts machines in zones without capacity, and lets them fail later. */
  failsLater = false;
  /** The number of looks at which a machine that was ended is still listed. */
  endsAfter = 0;
  scope: FaultScope = 'zone';
  canStopIt = true;
  /** Zones that refuse every request permanently. */
  readonly refusing = new Set<string>();
  /** The maximum number of machines that a node had at the same time. */
  maxMachinesPerNode = 0;
  /** Called before and after every operation of the provider. */
  aroundCalls: () => Promise<void> = () => Promise.resolve();

  async provision(spec: NodeSpec): Promise<ProviderNode> {
    const { labels, attempt, nodeNumber, market } = spec;
    const zone = spec.place.zone ?? 'chosen';
    await this.aroundCalls();
    this.requests.push(`${nodeNumber}/${attempt} ${zone}`);
    const own = this.machines.filter(({ nodeToken }) => nodeToken === labels.nodeToken);
    const same = own.find((machine) => machine.attempt === attempt);
    if (own.some((machine) => machine !== same))
      throw new ComputeDriverError('AttemptExists', 'not gone yet', { kind: 'transient' });
    if (this.refusing.has(zone))
      throw new ComputeDriverError('NoType', `${zone} has no such type`, { kind: 'invalid' });
    const isFull = this.full.has(zone) || this.full.has(`${zone} ${market}`);
    if (!same && isFull && !this.failsLater) throw this.noRoom(zone);
    const machine = same ?? { nodeToken: labels.nodeToken, attempt, zone, state: 'running' as const, ends: null };
    if (!same) {
      this.machines.push({ ...machine, state: isFull ? 'failed' : 'running' });
      const count = this.machines.filter(({ nodeToken }) => nodeToken === labels.nodeToken).length;
      this.maxMachinesPerNode = Math.max(this.maxMachinesPerNode, count);
    }
    await this.aroundCalls();
    return this.shown(machine);
  }

  start({ nodeToken }: NodeRef): Promise<ProviderNode> {
    const machine = this.machines.find((one) => one.nodeToken === nodeToken);
    if (!machine) return Promise.reject(new ComputeDriverError('Gone', 'gone', { kind: 'invalid' }));
    if (this.full.has(machine.zone)) return Promise.reject(this.noRoom(machine.zone));
    return Promise.resolve(this.shown(Object.assign(machine, { state: 'running' })));
  }

  describe(refs: NodeRef[]): Promise<ProviderNode[]> {
    return Promise.resolve(
      refs.map((ref) => {
        const machine = this.machines.find(({ nodeToken }) => nodeToken === ref.nodeToken);
        return machine ? this.shown(machine) : goneNode(ref.nodeToken);
      }),
    );
  }

  canStop(): boolean {
    return this.canStopIt;
  }

  stop({ nodeToken }: NodeRef): Promise<'stopped'> {
    for (const machine of this.machines) if (machine.nodeToken === nodeToken) machine.state = 'stopped';
    return Promise.resolve('stopped');
  }

  async destroy({ nodeToken }: Pick<NodeRef, 'nodeToken'>): Promise<'gone' | 'going'> {
    await this.aroundCalls();
    for (const machine of this.machines.filter((one) => one.nodeToken === nodeToken)) {
      machine.ends = machine.ends === null ? this.endsAfter : machine.ends - 1;
      if (machine.ends <= 0) this.machines.splice(this.machines.indexOf(machine), 1);
    }
    await this.aroundCalls();
    return this.machines.some((one) => one.nodeToken === nodeToken) ? 'going' : 'gone';
  }

  private noRoom(zone: string): ComputeDriverError {
    return new ComputeDriverError('NoRoom', `no room in ${zone}`, { kind: 'capacity', scope: this.scope });
  }

  private shown({ nodeToken, attempt, zone, state }: Machine): ProviderNode {
    return {
      labels: { installationId: '', tenantId: '', clusterId: '', nodeToken },
      ...{ providerRef: `m-${nodeToken}-${attempt}`, state, privateIp: null, publicIp: null, createdAt: null },
      fault: state === 'failed' ? this.noRoom(zone) : null,
    };
  }
}
