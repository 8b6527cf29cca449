import { MAX_LOAD, type ReportRequest } from '../../../../../libs/contracts/agent-protocol';
import { MAX_WARM_DRIVERS } from '../../../../config/compute.config';
import { NOW, type Values } from '../../../../platform/kernel/persistence/sql';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/** The parts of a report about the node itself: its load, warm drivers, drain and interruption. */
export type NodeReport = Pick<ReportRequest, 'load' | 'warm_drivers' | 'drained' | 'interruption'> & {
  /** Numbers of the runs of which the report says for the first time how they started. */
  starts?: RunStarts;
};

/** Numbers of runs that a warm driver took, and of those for which a driver was started. */
export interface RunStarts {
  warm: number;
  cold: number;
}

export interface NodeChange {
  columns: Values<ClusterNode>;
  /** True if the change may require a scaling decision. */
  needsScalingDecision: boolean;
}

/** Values of a node whose machine starts fresh. */
export const NO_LOAD = {
  used_cores: null,
  pending_cores: null,
  executors: null,
  warm_drivers: null,
  load_at: null,
  idle_since: null,
  draining: false,
  drained_at: null,
  interrupted_at: null,
  interruption: null,
} satisfies Values<ClusterNode>;

/**
 * Returns the changes of the node by a report; null if there are none. Hostile jobs may have forged the report, so only
 * the facts of the node's own role count, and no more than it has.
 */
export function changeOf(node: ClusterNode, report: NodeReport): NodeChange | null {
  const load = loadColumns(node, report);
  const isInterrupted = report.interruption !== undefined && node.interrupted_at === null;
  const columns: Values<ClusterNode> = {
    ...load,
    ...warmDriverColumns(node, report),
    ...(isDrained(node, report) ? { drained_at: NOW } : {}),
    ...(isInterrupted ? { interrupted_at: NOW, interruption: report.interruption?.detail, draining: true } : {}),
  };
  if (Object.keys(columns).length === 0) return null;
  const wantsMore = typeof load.pending_cores === 'number' && load.pending_cores > (node.pending_cores ?? 0);
  return { columns, needsScalingDecision: wantsMore || 'drained_at' in columns || isInterrupted };
}

function loadColumns(node: ClusterNode, { load }: NodeReport): Values<ClusterNode> {
  if (!load) return {};
  if (node.role === 'master') {
    const pending_cores = Math.min(load.pending_cores, MAX_LOAD);
    return pending_cores === node.pending_cores ? {} : { pending_cores, load_at: NOW };
  }
  if (node.role !== 'worker') return {};
  // Each executor has at least one core.
  const [used_cores, executors] = [load.used_cores, load.executors].map((n) => Math.min(n, node.cores)) as [
    number,
    number,
  ];
  if (used_cores === node.used_cores && executors === node.executors) return {};
  const wasIdle = node.used_cores === 0;
  const idle_since = used_cores > 0 ? null : wasIdle ? undefined : NOW;
  return { used_cores, executors, load_at: NOW, idle_since };
}

/** Nodes that keep no warm drivers report none, like those of older releases. */
function warmDriverColumns(node: ClusterNode, { warm_drivers: reported, starts }: NodeReport): Values<ClusterNode> {
  if (node.role === 'worker') return {};
  const warm_drivers = reported === undefined ? null : Math.min(reported, MAX_WARM_DRIVERS);
  return {
    ...(warm_drivers === node.warm_drivers ? {} : { warm_drivers }),
    ...(starts && starts.warm > 0 ? { warm_starts: node.warm_starts + starts.warm } : {}),
    ...(starts && starts.cold > 0 ? { cold_starts: node.cold_starts + starts.cold } : {}),
  };
}

/** True once the agent reports the drain as done. A run that the agent does not know of yet also keeps the node. */
function isDrained(node: ClusterNode, { drained = false }: NodeReport): boolean {
  return drained && node.draining && node.drained_at === null && node.busy_slots === 0;
}
