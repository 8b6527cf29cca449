import {
  ComputeDriverError,
  type FaultKind,
  type NodeRef,
  type NodeSpec,
  type ProviderNode,
  type ProviderNodeState,
} from '../../../libs/compute-drivers/compute-driver';

/** A provider that does what a test says. */
export class ScriptedProvider {
  readonly specs: NodeSpec[] = [];
  readonly started: string[] = [];
  readonly destroyed: string[] = [];
  /** States of single nodes; all others are in `state`. */
  readonly states = new Map<string, ProviderNodeState>();
  faults: (ComputeDriverError | null)[] = [];
  /** Permanent refusals, by the number of the node. */
  readonly refusals = new Map<number, ComputeDriverError>();
  state: ProviderNodeState = 'running';
  /** The reason that the provider gives for failed nodes. */
  fault: ComputeDriverError | null = null;
  canStopIt = true;
  isSlow = false;

  provision(spec: NodeSpec): Promise<ProviderNode> {
    this.specs.push(spec);
    const fault = this.refusals.get(spec.nodeNumber) ?? this.faults.shift();
    return fault ? Promise.reject(fault) : Promise.resolve(this.node(spec.labels.nodeToken, 'pending'));
  }

  start(ref: NodeRef): Promise<ProviderNode> {
    this.started.push(ref.nodeToken);
    return Promise.resolve(this.node(ref.nodeToken, 'pending'));
  }

  describe(refs: NodeRef[]): Promise<ProviderNode[]> {
    return Promise.resolve(refs.map((ref) => this.node(ref.nodeToken, this.states.get(ref.nodeToken) ?? this.state)));
  }

  canStop(): boolean {
    return this.canStopIt;
  }

  stop(): Promise<'stopped' | 'stopping'> {
    return Promise.resolve(this.isSlow ? 'stopping' : 'stopped');
  }

  destroy({ nodeToken }: Pick<NodeRef, 'nodeToken'>): Promise<'gone' | 'going'> {
    this.destroyed.push(nodeToken);
    return Promise.resolve(this.isSlow ? 'going' : 'gone');
  }

  private node(nodeToken: string, state: ProviderNodeState): ProviderNode {
    const labels = { installationId: '', tenantId: '', clusterId: '', nodeToken };
    const ip = state === 'running' ? '10.0.0.7' : null;
    return {
      ...{ labels, providerRef: `test:${nodeToken}`, state, privateIp: ip, publicIp: null, createdAt: null },
      fault: state === 'interrupted' ? fault('capacity') : state === 'failed' ? this.fault : null,
    };
  }
}

export const fault = (kind: FaultKind, retryAfterMs: number | null = null): ComputeDriverError =>
  new ComputeDriverError('TEST', `the provider says ${kind}`, { kind, retryAfterMs });
