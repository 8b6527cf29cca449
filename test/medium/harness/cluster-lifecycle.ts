import type { DiscoveryService } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { ClusterEvents } from '../../../src/modules/clusters/cluster-events';
import { ClusterLifecycle } from '../../../src/modules/clusters/cluster-lifecycle';
import { ClusterNodesRepository } from '../../../src/modules/clusters/cluster-nodes.repository';
import { ClusterRowsRepository } from '../../../src/modules/clusters/cluster-rows.repository';
import type { ClusterSubscriber } from '../../../src/modules/clusters/clusters.contract';
import { ClusterChangesSubscriber } from '../../../src/modules/jobs/cluster-changes.subscriber';

/** Transitions with the subscribers of the product, or others. */
export function makeLifecycle(
  dataSource: DataSource,
  subscribers: ClusterSubscriber[] = [new ClusterChangesSubscriber()],
): ClusterLifecycle {
  const providers = subscribers.map((instance) => ({ instance }));
  const events = new ClusterEvents({ getProviders: () => providers } as unknown as DiscoveryService);
  events.onModuleInit();
  const rows = new ClusterRowsRepository(dataSource);
  return new ClusterLifecycle(dataSource, rows, new ClusterNodesRepository(dataSource), events);
}
