import type { DiscoveryService } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { LedgerRepository } from '../../../src/modules/execution/billing/ledger.repository';
import { LedgerSubscriber } from '../../../src/modules/execution/billing/ledger.subscriber';
import { ClusterEvents } from '../../../src/modules/execution/clusters/lifecycle/cluster-events';
import { ClusterLifecycle } from '../../../src/modules/execution/clusters/lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterRowsRepository } from '../../../src/modules/execution/clusters/model/cluster-rows.repository';
import type { ClusterSubscriber } from '../../../src/modules/execution/clusters';
import { ClusterChangesSubscriber } from '../../../src/modules/execution/runs/jobs/cluster-changes.subscriber';

/** Cluster transitions with the subscribers of the product, some of them replaced by those of the test. */
export function makeLifecycle(dataSource: DataSource, subscribers: ClusterSubscriber[] = []): ClusterLifecycle {
  const replaced = new Set(subscribers.map(({ domain }) => domain));
  const usual = [new ClusterChangesSubscriber(), new LedgerSubscriber(new LedgerRepository(dataSource))];
  const all = [...subscribers, ...usual.filter(({ domain }) => !replaced.has(domain))];
  const providers = all.map((instance) => ({ instance }));
  const events = new ClusterEvents({ getProviders: () => providers } as unknown as DiscoveryService);
  events.onModuleInit();
  const rows = new ClusterRowsRepository(dataSource);
  return new ClusterLifecycle(dataSource, rows, new ClusterNodesRepository(dataSource), events);
}
