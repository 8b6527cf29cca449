import { Injectable } from '@nestjs/common';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { openEnded } from '../../../../platform/kernel/dto/response-fields';
import { ClusterHistoriesService, type ClusterStatus, type EnteredState, GIVES_SLOTS } from '../../clusters';
import {
  MAX_TIMELINE_STATES,
  type RunPhase,
  type RunPhaseName,
  type RunTimeline,
  type RunTimelineEntry,
} from './dto/run-timeline.dto';
import type { Run } from './entities/run.entity';
import { remedyOf } from './reason-codes';
import { isFinished, type RunStatus } from './run-state';
import { type RunStateRow, RunsRepository } from './runs.repository';

type Span = Pick<RunStateRow, 'status' | 'start_time' | 'end_time'>;

/** Puts the history of a run beside those of its cluster and nodes. */
@Injectable()
export class RunTimelinesService {
  constructor(
    private readonly runs: RunsRepository,
    private readonly histories: ClusterHistoriesService,
  ) {}

  async timeline(scope: WorkspaceScope, runId: number): Promise<RunTimeline> {
    const run = await this.runs.byId(runId);
    const { tenantId, workspace } = scope;
    if (run?.tenant_id !== tenantId || run.workspace_id !== workspace.workspaceId) {
      throw notFound('JOB.NOT_FOUND', `There is no run with id ${runId} in the workspace "${workspace.name}".`);
    }
    const until = run.ended_at ?? new Date();
    const [states, entered] = await Promise.all([
      this.runs.history(runId),
      this.histories.between(run.cluster_id, run.from_date, until, MAX_TIMELINE_STATES + 1),
    ]);
    const clusterStates = entered.filter(({ node_id: node }) => node === null);
    const nodeStates = entered.filter(({ node_id: node }) => node !== null);
    const shown = [clusterStates, nodeStates].flatMap((some) => some.slice(0, MAX_TIMELINE_STATES));
    return {
      run_id: run.run_id,
      resource: run.kind,
      run_status: run.status,
      submit_date: run.from_date,
      start_date: run.assigned_at,
      end_date: run.ended_at,
      reason_code: run.reason_code,
      reason: run.reason,
      remedy: remedyOf(run.reason_code),
      phases: phasesOf(run, states, clusterStates),
      entries: [
        ...states.map((state) => entryOf('run', state)),
        ...shown.map((state) => clusterEntry(state, run)),
      ].toSorted((one, other) => one.from_date.getTime() - other.from_date.getTime()),
      is_truncated: shown.length < entered.length,
      stages_path: run.kind === 'job' ? `/workspace/${run.workspace_id}/spark/job/${runId}/metrics` : null,
    };
  }
}

/** Returns the phases of a run, without gaps. It waits for the cluster as long as that gives no slots. */
export function phasesOf(
  run: Pick<Run, 'from_date' | 'assigned_at' | 'ended_at'>,
  states: readonly Span[],
  clusterStates: readonly Span[],
): RunPhase[] {
  const waitedUntil = run.assigned_at ?? run.ended_at;
  const waits = clusterStates
    .filter(({ start_time: from }) => waitedUntil === null || from < waitedUntil)
    .map(({ status, start_time }): [RunPhaseName, Date] => [
      GIVES_SLOTS.includes(status as ClusterStatus) ? 'WAITING_FOR_SLOT' : 'WAITING_FOR_CLUSTER',
      start_time < run.from_date ? run.from_date : start_time,
    ]);
  const ran = states.flatMap(({ status, start_time }): [RunPhaseName, Date][] => {
    const phase = PHASE_OF[status as RunStatus];
    return phase === undefined ? [] : [[phase, start_time]];
  });
  const started: [RunPhaseName, Date][] = run.assigned_at ? [['STARTING', run.assigned_at]] : [];
  const first: [RunPhaseName, Date][] = [['WAITING_FOR_SLOT', run.from_date]];
  const ended = run.ended_at?.getTime() ?? Infinity;
  // A phase begins where the next one is noted; one that begins with the next, or is the same as the one before, is none.
  const begun = [...(waits.length > 0 ? waits : first), ...started, ...ran]
    .filter(([, at]) => at.getTime() < ended)
    .toSorted(([, one], [, other]) => one.getTime() - other.getTime())
    .filter(([, at], index, all) => all[index + 1]?.[1].getTime() !== at.getTime())
    .filter(([phase], index, all) => all[index - 1]?.[0] !== phase);
  return begun.map(([phase, at], index) => ({ phase, from_date: at, to_date: begun[index + 1]?.[1] ?? run.ended_at }));
}

const PHASE_OF: Partial<Record<RunStatus, RunPhaseName>> = { RUNNING: 'RUNNING', STOPPING: 'STOPPING' };

function entryOf(subject: 'run' | 'cluster' | 'node', state: RunStateRow | EnteredState): RunTimelineEntry {
  const isEnd = subject === 'run' && isFinished(state.status as RunStatus);
  return {
    subject,
    node_number: null,
    is_node_of_run: false,
    status: state.status,
    created_by: state.username,
    reason: state.reason,
    step: state.step,
    from_date: state.start_time,
    to_date: isEnd ? null : openEnded(state.end_time),
  };
}

function clusterEntry(state: EnteredState, run: Pick<Run, 'node_id'>): RunTimelineEntry {
  if (state.node_id === null) return entryOf('cluster', state);
  const isOfRun = state.node_id === run.node_id;
  return { ...entryOf('node', state), node_number: state.node_number, is_node_of_run: isOfRun };
}
