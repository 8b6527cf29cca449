import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { ClusterStatus, NodeStatus } from '../model/cluster-state';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/**
 * The domains that must subscribe to transitions, in this order. A process without one of them does not boot, because
 * its transitions would lack their consequences.
 */
const SUBSCRIBING_DOMAINS = ['runs', 'billing'] as const;
export type SubscribingDomain = (typeof SUBSCRIBING_DOMAINS)[number];

/** The common part of all transition events. The history entry holds time and user. */
interface Transition<S> {
  tenantId: string;
  clusterId: number;
  stateId: number;
  from: S | null;
  to: S;
  reason: string | null;
  /** The operation that caused the transition; null if there is none. */
  workflowInstanceId: number | null;
}

export type ClusterTransitioned = Transition<ClusterStatus>;

export interface NodeTransitioned extends Transition<NodeStatus> {
  nodeId: number;
}

/** The agent reports that its daemons accept work, at a start or after a restart. */
export interface NodeBecameReady {
  node: Pick<ClusterNode, 'tenant_id' | 'cluster_id' | 'node_id'>;
  clusterStatus: ClusterStatus;
}

export interface ClusterEventTypes {
  clusterTransitioned: ClusterTransitioned;
  nodeTransitioned: NodeTransitioned;
  nodeBecameReady: NodeBecameReady;
}

/**
 * A domain's reactions to what happens to clusters. They run in the transaction of the event, with the cluster locked
 * or, for nodes that their workflow marks, only the node: a failure rolls the event back. Nest finds the subscribers
 * among the providers.
 */
export abstract class ClusterSubscriber {
  abstract readonly domain: SubscribingDomain;
  abstract readonly on: {
    readonly [E in keyof ClusterEventTypes]?: (tx: Tx, event: ClusterEventTypes[E]) => Promise<void>;
  };
}

@Injectable()
export class ClusterEvents implements OnModuleInit {
  private subscribers: readonly ClusterSubscriber[] = [];

  constructor(private readonly discovery: DiscoveryService) {}

  /** Throws if a required domain does not subscribe, or subscribes twice. */
  onModuleInit(): void {
    const found = this.discovery
      .getProviders()
      .map(({ instance }): unknown => instance)
      .filter((instance) => instance instanceof ClusterSubscriber);
    this.subscribers = SUBSCRIBING_DOMAINS.map((domain) => {
      const [subscriber, ...others] = found.filter((candidate) => candidate.domain === domain);
      if (!subscriber) throw new Error(`The domain ${domain} does not subscribe to the events of clusters`);
      if (others.length > 0) throw new Error(`The domain ${domain} subscribes twice to the events of clusters`);
      return subscriber;
    });
  }

  /** Calls the subscribers one after the other, in the transaction of the event. */
  async publish<E extends keyof ClusterEventTypes>(tx: Tx, name: E, event: ClusterEventTypes[E]): Promise<void> {
    for (const { on } of this.subscribers) await on[name]?.(tx, event);
  }
}
