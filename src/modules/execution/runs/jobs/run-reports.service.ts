import { Injectable } from '@nestjs/common';
import type {
  DesiredRun,
  LogStream,
  RunFileAddress,
  RunReport,
  RunSecrets,
} from '../../../../../libs/contracts/agent-protocol';
import { Config } from '../../../../config/config';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { ownerKey, type RunMetastores, RunMetastoresService, RunSecretsService } from '../../user-secrets';
import {
  acceleratorOf,
  ClusterMountsService,
  type ClusterNode,
  ClusterSlotsService,
  type DesiredNode,
  type RunSettings,
  type RunStarts,
  secretNames,
} from '../../clusters';
import { LogsService } from '../../../infrastructure/storage';
import { runKindOf } from './run-kinds';
import { buildRunSpec, type SpecInput } from './run-spec';
import { type RunEnd, RunScheduler } from './run-scheduler.service';
import { isFinished, runMayBecome, STATUS_OF_OUTCOME, statusBehind } from './run-state';
import { type AssignedRun, RunsRepository, type SpecColumn } from './runs.repository';
import type { Run } from './entities/run.entity';

const NO_LOG: DesiredRun['log_offsets'] = { stdout: 0, stderr: 0, events: 0 };

/** Location of a file that a node fetches. */
export type StagedFileLocation = { tenantId: string; path: string } & (
  | { kind: 'workspace'; workspaceId: number; isFolder: boolean }
  | { kind: 'object-storage'; managerId: number }
);

/** Mounts and metastores of the runs of a cluster. */
interface RunStores extends Pick<SpecInput, 'mounts'> {
  metastores: RunMetastores;
}
const NO_STORES: RunStores = { mounts: [], metastores: new Map() };

/** The part of a run's description that depends on its cluster and its owner. */
type RunResources = Pick<SpecInput, 'mounts' | 'metastore' | 'secrets'>;

/** Runs from the perspective of node agents: the desired runs of a node, and the reports about them. */
@Injectable()
export class RunReportsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly runs: RunsRepository,
    private readonly scheduler: RunScheduler,
    private readonly clusters: ClusterSlotsService,
    private readonly logs: LogsService,
    private readonly mounts: ClusterMountsService,
    private readonly metastores: RunMetastoresService,
    private readonly secrets: RunSecretsService,
    private readonly config: Config,
  ) {}

  /** Returns the unfinished runs of the node and the version of its desired state, read as one snapshot. */
  assignedTo(nodeId: number): Promise<{ version: number; runs: AssignedRun[] }> {
    return this.runs.assignedTo(nodeId);
  }

  /**
   * Returns the runs with everything that the node's agent needs.
   * @param version of the desired state that the agent received before; 0 if none
   */
  async desired(
    { node, runSettings, hasMounts }: DesiredNode,
    assigned: readonly AssignedRun[],
    version: number,
  ): Promise<DesiredRun[]> {
    if (assigned.length === 0) return [];
    const unknown = assigned.filter((run) => !isKnownToAgent(run, version)).map(withSecretsOwner);
    const { mounts, metastores } = await this.storesOf(node, hasMounts, runSettings.metastore_catalog_id, unknown);
    const secrets = await this.secretsOf(node, runSettings, unknown);
    const resourcesOf = (run: AssignedRun): RunResources => {
      const owner = ownerKey(withSecretsOwner(run));
      return { mounts, metastore: metastores.get(owner), secrets: secrets.get(owner) };
    };
    return Promise.all(
      assigned.map(async (run) => ({
        run_id: String(run.run_id),
        action: run.stop_requested ? ('stop' as const) : ('run' as const),
        correlation_id: run.correlation_id,
        spec: this.specOf(run, node, runSettings, resourcesOf(run)).spec,
        // A run that no agent has accepted has no log, and an agent that knows the run has its own offsets.
        log_offsets: version > 0 || run.report_seq === 0 ? NO_LOG : await this.logOffsets(run.run_id),
      })),
    );
  }

  /**
   * Returns the location of a run's file; throws a 404 if the run is not on the node or has no such file. The key takes precedence
   * over the index; agents of older releases send no key.
   */
  async stagedFile(node: ClusterNode, runId: number, { index, key }: RunFileAddress): Promise<StagedFileLocation> {
    const run = await this.getOnNode(node, runId);
    const cluster = await this.clusters.runSettings(node.cluster_id);
    const { staged } = this.specOf(run, node, cluster);
    // The cluster's files precede the job's and may have been edited, so indexes shift but keys do not.
    const file = key === undefined ? staged[index] : staged.find((other) => other?.key === key);
    if (!file) {
      const message = `The job ${runId} has no file with index ${index}. It may have been removed when the cluster was edited.`;
      throw notFound('JOB.FILE_NOT_FOUND', message);
    }
    const { kind, path, isFolder = false } = file;
    if (kind === 'workspace') return { kind, path, isFolder, tenantId: run.tenant_id, workspaceId: run.workspace_id };
    const managerId = cluster.object_storage_manager_id;
    if (managerId !== null) return { kind, path, tenantId: run.tenant_id, managerId };
    // The object storage manager was removed after the run was submitted.
    throw notFound('JOB.FILE_NOT_FOUND', `"${path}" is in an object storage manager, but the cluster has none.`);
  }

  /**
   * Applies a report. Ignores repeated and outdated reports, and reports about runs of other nodes. Returns how the run started if
   * this report is the first to say so, else null.
   */
  async applyReport(tx: Tx, node: ClusterNode, report: RunReport): Promise<keyof RunStarts | null> {
    const runId = Number(report.run_id);
    const ended = report.state === 'ended';
    // An end frees a slot. Every code path that assigns or frees slots locks the cluster before the run.
    const cluster = ended ? await this.clusters.lock(tx, node.cluster_id) : null;
    const run = await this.runs.lock(tx, runId);
    if (!run || run.node_id !== node.node_id || isFinished(run.status) || report.seq <= run.report_seq) return null;
    await this.runs.recordReport(tx, runId, { ...report, ...memoryWithin(node.memory_mb, report) });
    const start = run.started_warm === null ? startOf(report) : null;
    if (ended) {
      const to = endOf(run, report);
      await this.scheduler.end(tx, run, {
        to,
        code: reasonOf(to, report),
        reason: report.message ?? 'The agent of the node reported no reason.',
        exitCode: report.exit_code,
        step: 'report',
      });
      if (cluster) await this.scheduler.assignWaiting(tx, cluster);
      return start;
    }
    const to = statusBehind(report.state, runKindOf(run.job_conf_snapshot.job_type).runningOnce);
    if (to !== null && to !== run.status && runMayBecome(run.status, to))
      await this.runs.transition(tx, [run], { to, reason: report.message, userId: null, step: 'report' });
    return start;
  }

  /** Called after reports are committed: a run that was submitted meanwhile could not see the freed slot. */
  async reportsCommitted(node: ClusterNode, reports: readonly RunReport[]): Promise<void> {
    if (reports.some((report) => report.state === 'ended')) await this.scheduler.reschedule(node.cluster_id);
  }

  private async logOffsets(id: number): Promise<DesiredRun['log_offsets']> {
    const resumeAt = (stream: LogStream) => this.logs.resumeAt({ kind: 'run', id, stream });
    const [stdout, stderr, events] = await Promise.all([resumeAt('stdout'), resumeAt('stderr'), resumeAt('events')]);
    return { stdout, stderr, events };
  }

  /** Returns the mounts of the node's cluster, and the metastores of the runs that the agent does not know yet. */
  private async storesOf(
    { tenant_id: tenantId, cluster_id: clusterId }: ClusterNode,
    hasMounts: boolean,
    catalogId: number | null,
    unknown: readonly AssignedRun[],
  ): Promise<RunStores> {
    if (!hasMounts && (catalogId === null || unknown.length === 0)) return NO_STORES;
    return this.transactions.read(async (tx) => ({
      mounts: hasMounts ? await this.mounts.openedFor(tx, tenantId, clusterId) : [],
      metastores: catalogId === null ? new Map() : await this.metastores.forRuns(tx, tenantId, catalogId, unknown),
    }));
  }

  private async secretsOf(
    { tenant_id: tenantId }: ClusterNode,
    { spark_config: config }: RunSettings,
    runs: readonly AssignedRun[],
  ): Promise<Map<string, RunSecrets>> {
    const named = { env: secretNames(config.env_var_secret), conf: secretNames(config.conf_secret) };
    const namesNone = Object.keys(named.env).length === 0 && Object.keys(named.conf).length === 0;
    if (namesNone || runs.length === 0) return new Map();
    const owners = new Map(runs.map((run) => [ownerKey(run), run]));
    return this.transactions.read(async (tx) => {
      const found = new Map<string, RunSecrets>();
      for (const [key, { workspace_id: workspaceId, created_by_user_id: userId }] of owners) {
        found.set(key, await this.secrets.forRun(tx, { tenantId, workspaceId, userId }, named));
      }
      return found;
    });
  }

  private specOf(
    run: Pick<Run, SpecColumn>,
    node: ClusterNode,
    cluster: RunSettings,
    resources: RunResources = { mounts: [] },
  ) {
    return buildRunSpec({
      snapshot: run.job_conf_snapshot,
      arguments: run.arguments,
      conf: run.conf,
      sparkConfig: cluster.spark_config,
      maxParallelJobs: cluster.max_parallel_jobs,
      accelerator: acceleratorOf(cluster),
      ...resources,
      node,
      killGraceMs: this.config.agent.killGraceMs,
      sqlIdleMinutes: this.config.agent.sqlIdleMinutes,
      mavenRepository: this.config.agent.mavenRepositoryUrl,
    });
  }

  /** Returns the run; throws a 404 if it does not belong to the node. */
  async getOnNode(node: ClusterNode, runId: number): Promise<Run> {
    const run = await this.runs.byId(runId);
    if (run?.node_id !== node.node_id)
      throw notFound('JOB.NOT_FOUND', `The job ${runId} does not belong to this node.`);
    return run;
  }
}

/**
 * Returns an interactive run without its submitter: everybody with RUN on its workspace can control it, so it gets no secrets of
 * a user.
 */
function withSecretsOwner(run: AssignedRun): AssignedRun {
  return runKindOf(run.job_conf_snapshot.job_type).isInteractive ? { ...run, created_by_user_id: null } : run;
}

/** Returns the memory that a report claims, as far as the node has it. */
function memoryWithin(
  nodeMb: number,
  { requested_memory_mb: requested, peak_memory_mb: peak }: RunReport,
): Pick<RunReport, 'requested_memory_mb' | 'peak_memory_mb'> {
  // Zero is what an agent that measured nothing would claim.
  if (!requested || !peak) return { requested_memory_mb: undefined, peak_memory_mb: undefined };
  return { requested_memory_mb: Math.min(requested, nodeMb), peak_memory_mb: Math.min(peak, nodeMb) };
}

function startOf({ started_warm: isWarm }: RunReport): keyof RunStarts | null {
  return isWarm === undefined ? null : isWarm ? 'warm' : 'cold';
}

/** Returns the reason of an end. Lists find runs that failed by it, so no other end than DONE has the reason of that one. */
function reasonOf(to: RunEnd['to'], { reason }: RunReport): RunEnd['code'] {
  return reason === null || (reason === 'COMPLETED' && to !== 'DONE') ? 'AGENT_ERROR' : reason;
}

/** A run without a stop request ends as TERMINATED even if its agent reports it as stopped or killed. */
function endOf({ status }: Run, { outcome }: RunReport): RunEnd['to'] {
  const to = STATUS_OF_OUTCOME[outcome ?? 'terminated'];
  return runMayBecome(status, to) ? to : 'TERMINATED';
}

/** Returns true if the agent already has the description of the run, so that its secrets need not be sent again. */
function isKnownToAgent({ report_seq: seq }: AssignedRun, version: number): boolean {
  return version > 0 && seq > 0;
}
