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

/** Where a file that a node fetches lies. */
export type StagedFilePlace = { tenantId: string; path: string } & (
  | { kind: 'workspace'; workspaceId: number; isFolder: boolean }
  | { kind: 'object-storage'; managerId: number }
);

/** What runs need to find their data. */
interface RunStores extends Pick<SpecInput, 'mounts'> {
  metastores: RunMetastores;
}
const NO_STORES: RunStores = { mounts: [], metastores: new Map() };

/** What a run is given beside its settings. */
type RunGiven = Pick<SpecInput, 'mounts' | 'metastore' | 'secrets'>;

/** The node agents' side of runs: what a node should run, and what it reports about it. */
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

  /** Every unfinished run of the node, and the version of what it should do, both as of one moment. */
  assignedTo(nodeId: number): Promise<{ version: number; runs: AssignedRun[] }> {
    return this.runs.assignedTo(nodeId);
  }

  /**
   * The runs with all that the node's agent needs.
   * @param version of what the agent has been told before; 0 when nothing
   */
  async desired(
    { node, runSettings, hasMounts }: DesiredNode,
    assigned: readonly AssignedRun[],
    version: number,
  ): Promise<DesiredRun[]> {
    if (assigned.length === 0) return [];
    const untold = assigned.filter((run) => !isTold(run, version)).map(asDriven);
    const { mounts, metastores } = await this.storesOf(node, hasMounts, runSettings.metastore_catalog_id, untold);
    const secrets = await this.secretsOf(node, runSettings, untold);
    const givenTo = (run: AssignedRun): RunGiven => {
      const owner = ownerKey(asDriven(run));
      return { mounts, metastore: metastores.get(owner), secrets: secrets.get(owner) };
    };
    return Promise.all(
      assigned.map(async (run) => ({
        run_id: String(run.run_id),
        action: run.stop_requested ? ('stop' as const) : ('run' as const),
        correlation_id: run.correlation_id,
        spec: this.specOf(run, node, runSettings, givenTo(run)).spec,
        // The log of a run that no agent has accepted is empty, and one that has been told of a run knows its own.
        log_offsets: version > 0 || run.report_seq === 0 ? NO_LOG : await this.logOffsets(run.run_id),
      })),
    );
  }

  /**
   * Where a file of a run lies; 404 when the run is not the node's or has no such file. The key wins over the index;
   * agents of older releases give none.
   */
  async stagedFile(node: ClusterNode, runId: number, { index, key }: RunFileAddress): Promise<StagedFilePlace> {
    const run = await this.onNode(node, runId);
    const cluster = await this.clusters.runSettings(node.cluster_id);
    const { staged } = this.specOf(run, node, cluster);
    // The cluster's own files come before those of the job, and may have been edited since the node was told of them.
    const file = key === undefined ? staged[index] : staged.find((other) => other?.key === key);
    if (!file) {
      const message = `The job ${runId} has no file ${index}, or lost it when its cluster was edited.`;
      throw notFound('JOB.FILE_NOT_FOUND', message);
    }
    const { kind, path, isFolder = false } = file;
    if (kind === 'workspace') return { kind, path, isFolder, tenantId: run.tenant_id, workspaceId: run.workspace_id };
    const managerId = cluster.object_storage_manager_id;
    if (managerId !== null) return { kind, path, tenantId: run.tenant_id, managerId };
    // The cluster had one when the run was submitted.
    throw notFound('JOB.FILE_NOT_FOUND', `"${path}" is in an object storage manager, but the cluster has none.`);
  }

  /** Takes in one report. Repeated and outdated ones change nothing; one of another node's run neither. */
  async reported(tx: Tx, node: ClusterNode, report: RunReport): Promise<void> {
    const runId = Number(report.run_id);
    const ended = report.state === 'ended';
    // An end frees a slot, and every path that gives slots locks the cluster before the run.
    const cluster = ended ? await this.clusters.lock(tx, node.cluster_id) : null;
    const run = await this.runs.lock(tx, runId);
    if (!run || run.node_id !== node.node_id || isFinished(run.status) || report.seq <= run.report_seq) return;
    await this.runs.noteReport(tx, runId, report);
    if (ended) {
      await this.scheduler.end(tx, run, {
        to: endOf(run, report),
        code: report.reason ?? 'AGENT_ERROR',
        reason: report.message ?? 'The node gave no reason.',
        exitCode: report.exit_code,
      });
      if (cluster) await this.scheduler.assignWaiting(tx, cluster);
      return;
    }
    const to = statusBehind(report.state, runKindOf(run.job_conf_snapshot.job_type).runningOnce);
    if (to === null || to === run.status || !runMayBecome(run.status, to)) return;
    await this.runs.transition(tx, [run], { to, reason: report.message, userId: null });
  }

  /** After the commit of reports: a slot that became free must not miss a run that came meanwhile. */
  async settled(node: ClusterNode, reports: readonly RunReport[]): Promise<void> {
    if (reports.some((report) => report.state === 'ended')) await this.scheduler.reschedule(node.cluster_id);
  }

  private async logOffsets(id: number): Promise<DesiredRun['log_offsets']> {
    const resumeAt = (stream: LogStream) => this.logs.resumeAt({ kind: 'run', id, stream });
    const [stdout, stderr, events] = await Promise.all([resumeAt('stdout'), resumeAt('stderr'), resumeAt('events')]);
    return { stdout, stderr, events };
  }

  /** Where the runs of a node's cluster find their data; `untold` need to know how their metastore is opened. */
  private async storesOf(
    { tenant_id: tenantId, cluster_id: clusterId }: ClusterNode,
    hasMounts: boolean,
    catalogId: number | null,
    untold: readonly AssignedRun[],
  ): Promise<RunStores> {
    if (!hasMounts && (catalogId === null || untold.length === 0)) return NO_STORES;
    return this.transactions.read(async (tx) => ({
      mounts: hasMounts ? await this.mounts.openedFor(tx, tenantId, clusterId) : [],
      metastores: catalogId === null ? new Map() : await this.metastores.forRuns(tx, tenantId, catalogId, untold),
    }));
  }

  /** Secrets of runs that begin, by whose they are. */
  private async secretsOf(
    { tenant_id: tenantId }: ClusterNode,
    { spark_config: config }: RunSettings,
    runs: readonly AssignedRun[],
  ): Promise<Map<string, RunSecrets>> {
    const named = { env: secretNames(config.env_var_secret), conf: secretNames(config.conf_secret) };
    const isNone = Object.keys(named.env).length === 0 && Object.keys(named.conf).length === 0;
    if (isNone || runs.length === 0) return new Map();
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
    given: RunGiven = { mounts: [] },
  ) {
    return buildRunSpec({
      snapshot: run.job_conf_snapshot,
      arguments: run.arguments,
      conf: run.conf,
      sparkConfig: cluster.spark_config,
      maxParallelJobs: cluster.max_parallel_jobs,
      accelerator: acceleratorOf(cluster),
      ...given,
      node,
      killGraceMs: this.config.agent.killGraceMs,
      sqlIdleMinutes: this.config.agent.sqlIdleMinutes,
      mavenRepository: this.config.agent.mavenRepositoryUrl,
    });
  }

  /** The run; throws a 404 if it does not belong to the node. */
  async onNode(node: ClusterNode, runId: number): Promise<Run> {
    const run = await this.runs.byId(runId);
    if (run?.node_id !== node.node_id)
      throw notFound('JOB.NOT_FOUND', `The job ${runId} does not belong to this node.`);
    return run;
  }
}

/**
 * The run as far as secrets are concerned: an interactive one is driven by everybody who may run things in its workspace, so
 * it has no secrets of a user.
 */
function asDriven(run: AssignedRun): AssignedRun {
  return runKindOf(run.job_conf_snapshot.job_type).isInteractive ? { ...run, created_by_user_id: null } : run;
}

/** A run that nobody asked to stop cannot become STOPPED or KILLED, whatever its node says; it ends as TERMINATED instead. */
function endOf({ status }: Run, { outcome }: RunReport): RunEnd['to'] {
  const to = STATUS_OF_OUTCOME[outcome ?? 'terminated'];
  return runMayBecome(status, to) ? to : 'TERMINATED';
}

/** Whether the node's agent has the description of a run, and needs no secrets of it again. */
function isTold({ report_seq: seq }: AssignedRun, version: number): boolean {
  return version > 0 && seq > 0;
}
