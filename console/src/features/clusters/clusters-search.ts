import { choiceParam, idParam, withoutAbsent } from '../../shared/search-params';

/** States that a cluster can be filtered by; a destroyed one is shown only when somebody filters for it. */
export const CLUSTER_STATUSES = [
  'INITIATING',
  'RUNNING',
  'RESIZING_UP',
  'RESIZING_DOWN',
  'STOPPING',
  'STOPPED',
  'ERROR',
  'DESTROYING',
  'DESTROYED',
] as const;
export type ClusterStatus = (typeof CLUSTER_STATUSES)[number];

export interface ClustersSearch {
  status?: ClusterStatus[];
  q?: string;
}

/** True for a cluster that a workflow is changing. */
export function isChanging(status: string): boolean {
  return ['INITIATING', 'STOPPING', 'DESTROYING', 'RESIZING_UP', 'RESIZING_DOWN'].includes(status);
}

/** Reads the filters from an address; what is no filter is left out. */
export function readClustersSearch({ status, q }: Record<string, unknown>): ClustersSearch {
  const wanted = Array.isArray(status) ? status.map(String) : typeof status === 'string' ? status.split(',') : [];
  const statuses = CLUSTER_STATUSES.filter((known) => wanted.includes(known));
  return {
    ...(statuses.length > 0 ? { status: statuses } : {}),
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
  };
}

export const CLUSTER_TABS = ['nodes', 'log', 'load', 'history', 'configuration'] as const;
export type ClusterTab = (typeof CLUSTER_TABS)[number];

export const NODE_STREAMS = ['stderr', 'stdout'] as const;
export type NodeStream = (typeof NODE_STREAMS)[number];

/** The address has the id of a state of the node whose log is shown. */
export interface ClusterSearch {
  tab?: ClusterTab;
  node?: number;
  stream?: NodeStream;
}

export function readClusterSearch({ tab, node, stream }: Record<string, unknown>): ClusterSearch {
  return withoutAbsent({
    tab: choiceParam(CLUSTER_TABS, tab),
    node: idParam(node),
    stream: choiceParam(NODE_STREAMS, stream),
  });
}
