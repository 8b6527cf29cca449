import { defineWorkflow, type WorkflowDefinition } from '../../../../platform/background/workflows/workflow-definition';
import type { ClusterOperation } from '../model/cluster-state';

const queue = 'cluster-lifecycle';

export const START_CLUSTER = defineWorkflow({
  type: 'cosi_start',
  subject: 'cluster',
  job: { name: 'cluster.start', queue },
  deadlineMs: 15 * 60_000,
});

export const STOP_CLUSTER = defineWorkflow({
  type: 'cosi_stop',
  subject: 'cluster',
  job: { name: 'cluster.stop', queue },
  deadlineMs: 10 * 60_000,
});

export const DESTROY_CLUSTER = defineWorkflow({
  type: 'cosi_destroy',
  subject: 'cluster',
  job: { name: 'cluster.destroy', queue },
  deadlineMs: 15 * 60_000,
});

export const RESIZE_CLUSTER_UP = defineWorkflow({
  type: 'cosi_resize_up',
  subject: 'cluster',
  job: { name: 'cluster.resize-up', queue },
  deadlineMs: 15 * 60_000,
});

export const RESIZE_CLUSTER_DOWN = defineWorkflow({
  type: 'cosi_resize_down',
  subject: 'cluster',
  job: { name: 'cluster.resize-down', queue },
  deadlineMs: 20 * 60_000,
});

export const CLUSTER_WORKFLOWS: Record<ClusterOperation, WorkflowDefinition<'cluster'>> = {
  start: START_CLUSTER,
  stop: STOP_CLUSTER,
  destroy: DESTROY_CLUSTER,
};
