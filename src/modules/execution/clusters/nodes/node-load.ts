import { MAX_LOAD, type ReportRequest } from '../../../../../libs/contracts/agent-protocol';
import { NOW, type Values } from '../../../../platform/kernel/persistence/sql';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/** What a report says of a node besides its daemons and its runs. */
export type NodeNotes = Pick<ReportRequest, 'load' | 'drained' | 'interruption'>;

export interface NodeChange {
  columns: Values<ClusterNode>;
  /** Whether somebody may have to decide something about the cluster. */
  isNews: boolean;
}

/** Of a node whose machine begins anew. */
export const NO_LOAD = {
  used_cores: null,
  pending_cores: null,
  executors: null,
  load_at: null,
  idle_since: null,
  draining: false,
  drained_at: null,
  interrupted_at: null,
  interruption: null,
} satisfies Values<ClusterNode>;

/**
 * What of the node changes by a report; null for nothing. A report is what hostile jobs may have made of it: a node tells
 * only of its own role, and of no more than it has.
 */
export function changeOf(node: ClusterNode, notes: NodeNotes): NodeChange | null {
  const load = loadColumns(node, notes);
  const isInterrupted = notes.interruption !== undefined && node.interrupted_at === null;
  const columns: Values<ClusterNode> = {
    ...load,
    ...(isDrained(node, notes) ? { drained_at: NOW } : {}),
    ...(isInterrupted ? { interrupted_at: NOW, interruption: notes.interruption?.detail, draining: true } : {}),
  };
  if (Object.keys(columns).length === 0) return null;
  const wantsMore = typeof load.pending_cores === 'number' && load.pending_cores > (node.pending_cores ?? 0);
  return { columns, isNews: wantsMore || 'drained_at' in columns || isInterrupted };
}

function loadColumns(node: ClusterNode, { load }: NodeNotes): Values<ClusterNode> {
  if (!load) return {};
  if (node.role === 'master') {
    const pending_cores = Math.min(load.pending_cores, MAX_LOAD);
    return pending_cores === node.pending_cores ? {} : { pending_cores, load_at: NOW };
  }
  if (node.role !== 'worker') return {};
  // Each executor has a core.
  const [used_cores, executors] = [load.used_cores, load.executors].map((n) => Math.min(n, node.cores)) as [
    number,
    number,
  ];
  if (used_cores === node.used_cores && executors === node.executors) return {};
  const wasIdle = node.used_cores === 0;
  const idle_since = used_cores > 0 ? null : wasIdle ? undefined : NOW;
  return { used_cores, executors, load_at: NOW, idle_since };
}

/** A run that the agent has not heard of yet is left, too. */
function isDrained(node: ClusterNode, { drained = false }: NodeNotes): boolean {
  return drained && node.draining && node.drained_at === null && node.busy_slots === 0;
}
