import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { foreignSqlArgument, SQL_ARGUMENTS } from '../../../libs/spark/sql-arguments';
import type { TenantScope, WorkspaceContext } from '../../platform/auth/principal';
import { conflict, invalid, notFound } from '../../platform/errors/domain-error';
import type { FileContent } from '../../platform/files/content';
import { idText, type Message, openEnded, readAudit, writeAudit } from '../../platform/http/answers';
import { assertChanges } from '../../platform/http/changes';
import type { Page } from '../../platform/http/page';
import { describeSelector, type RecordSelector, selectorFrom } from '../../platform/http/selector';
import type { Tx, Values } from '../../platform/persistence/sql';
import { Transactions } from '../../platform/persistence/transactions';
import { keysToWire, toWire } from '../../platform/product/product-name';
import { inWorkspace, type WorkspaceScope } from '../../platform/resources/workspace-resource-repository';
import { ClusterSlotsService } from '../clusters/cluster-slots.service';
import { checkConf } from '../clusters/spark-conf.contract';
import { DependencyRepositoriesService } from '../dependency-repositories/dependency-repositories.service';
import { ClusterWorkspacesService } from '../workspaces/cluster-workspaces.service';
import { WorkspacesService } from '../workspaces/workspaces.service';
import {
  type CreateJobConf,
  type JobConfListItem,
  type JobConfListQuery,
  type JobConfRead,
  type JobConfSearchQuery,
  type JobConfWrite,
  type JobSettings,
  settingsOf,
  type UpdateJobConf,
} from './dto/job-conf.dto';
import { type JobConfRow, JobConfsRepository } from './job-confs.repository';
import type { JobConf } from './entities/job-conf.entity';
import { assertArchiveFolder, assertInWorkspace, assertKeytab } from './file-reference';
import { exportJobConf } from './job-conf-documents';
import { inferLanguage, isRunnable, JOB_TYPE_RULES, type JobLanguage, type RunnableLanguage } from './job-types';
import { filesNamed } from './run-spec';
import { splitArguments } from './split-arguments';

/** What to run in a workspace and how; the runs themselves are in `RunsService`. */
@Injectable()
export class JobConfsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: JobConfsRepository,
    private readonly workspaces: WorkspacesService,
    private readonly clusters: ClusterSlotsService,
    private readonly clusterWorkspaces: ClusterWorkspacesService,
    private readonly dependencies: DependencyRepositoriesService,
  ) {}

  async list(
    scope: TenantScope,
    workspace: WorkspaceContext,
    query: JobConfListQuery | JobConfSearchQuery,
  ): Promise<Page<JobConfListItem>> {
    const partOfName = 'job_conf_name' in query ? query.job_conf_name : undefined;
    const page = await this.repository.list(
      inWorkspace(scope, workspace),
      query,
      (conditions) => {
        conditions
          .onlyEnabled(query.enable)
          .only('cluster_id', query.cluster_ids)
          .only('job_type', query.job_type)
          .only('language', query.job_type_langs)
          .only('created_by_user_id', query.created_by_ids)
          .only('modified_by_user_id', query.modified_by_ids);
        this.repository.lastRunIs(query.last_run_status)(conditions);
      },
      partOfName,
    );
    if (partOfName !== undefined && page.result_set.total_objects === 0) {
      throw notFound('JOB_CONF.NOT_FOUND', `No job configuration of the workspace has "${partOfName}" in its name.`);
    }
    return {
      ...page,
      data: page.data.map((row) => ({
        ...read(row),
        last_job_run:
          row.last_run_id === null ? null : { job_id: row.last_run_id, job_status: row.last_run_status ?? '' },
      })),
    };
  }

  async get(scope: TenantScope, workspace: WorkspaceContext, selector: RecordSelector): Promise<JobConfRead> {
    return read(await this.repository.get(inWorkspace(scope, workspace), selector));
  }

  async create(scope: TenantScope, workspace: WorkspaceContext, body: CreateJobConf): Promise<JobConfWrite> {
    const settings = settingsOf(body);
    const language =
      (body.job_type as JobLanguage | undefined) ?? inferLanguage(settings.command, settings.rawScalaCode);
    const rule = checkSettings(language, settings);
    checkConf('JOB_CONF', settings.conf);
    return this.transactions.run(async (tx) => {
      await this.workspaces.lockActive(tx, workspace.workspaceId);
      await this.dependencies.check('JOB_CONF', scope, settings, tx);
      const row = await this.repository.insert(tx, inWorkspace(scope, workspace), {
        cluster_id: await this.usableCluster(tx, scope, workspace, selectorFrom(body, 'cluster')),
        name: body.name,
        job_type: rule.type,
        language: rule.language,
        max_concurrency: body.max_concurrency,
        unfinished_runs: body.max_concurrency === 0 ? null : 0,
        settings,
      });
      return write(row);
    });
  }

  /** Runs that were submitted before keep what they began with. */
  async update(
    scope: TenantScope,
    workspace: WorkspaceContext,
    selector: RecordSelector,
    body: UpdateJobConf,
  ): Promise<JobConfWrite> {
    assertChanges(body);
    return this.change(scope, workspace, selector, async (tx, place, row) => {
      if (openEnded(row.to_date) !== null) {
        throw conflict('JOB_CONF.DISABLED', `The job configuration "${row.name}" is disabled. Enable it first.`);
      }
      const settings = settingsOf(body, row.settings);
      checkSettings(row.language as RunnableLanguage, settings);
      // Not what the record had before: older releases let users set more.
      checkConf('JOB_CONF', body.conf);
      await this.dependencies.check('JOB_CONF', scope, body, tx);
      const movesTo = body.cluster_id !== undefined || body.cluster_name !== undefined;
      return this.repository.update(tx, place, row.job_conf_id, {
        name: body.name,
        settings,
        cluster_id: movesTo
          ? await this.usableCluster(tx, scope, workspace, selectorFrom(body, 'cluster'))
          : row.cluster_id,
        ...(await this.limit(tx, row, body.max_concurrency)),
      });
    });
  }

  async delete(scope: TenantScope, workspace: WorkspaceContext, selector: RecordSelector): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const { place, row } = await this.locked(tx, scope, workspace, selector);
      const unfinished = await this.repository.unfinishedRuns(tx, row.job_conf_id, 1);
      if (unfinished > 0) {
        throw conflict(
          'JOB_CONF.IN_USE',
          `The job configuration "${row.name}" has jobs that have not ended. Stop them, or wait for them, first.`,
        );
      }
      await this.repository.delete(tx, place, row);
      return { message: `The job configuration "${row.name}" (id ${row.job_conf_id}) is deleted.` };
    });
  }

  /** Opens a configuration as a document. */
  async export(scope: TenantScope, workspace: WorkspaceContext, selector: RecordSelector): Promise<FileContent> {
    const row = await this.repository.get(inWorkspace(scope, workspace), selector);
    const text = Buffer.from(`${JSON.stringify(exportJobConf(row), null, 2)}\n`);
    return {
      kind: 'file',
      name: `${row.name}.json`,
      stream: Readable.from(text, { objectMode: false }),
      sizeBytes: text.length,
      asError: (error) => error,
    };
  }

  enable(scope: TenantScope, workspace: WorkspaceContext, selector: RecordSelector): Promise<JobConfWrite> {
    return this.setActive(scope, workspace, selector, true);
  }

  /** No new run can be submitted; those that were go on. */
  disable(scope: TenantScope, workspace: WorkspaceContext, selector: RecordSelector): Promise<JobConfWrite> {
    return this.setActive(scope, workspace, selector, false);
  }

  /** Id of the cluster that the selector names; 404 if the tenant has none, 409 if it does not serve the workspace. */
  async usableCluster(
    tx: Tx,
    scope: TenantScope,
    workspace: WorkspaceContext,
    selector: RecordSelector,
  ): Promise<number> {
    const cluster = await this.clusters.find(tx, scope.tenantId, selector);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with ${describeSelector(selector)}.`);
    await this.clusterWorkspaces.assertServes(tx, cluster, workspace);
    return cluster.cluster_id;
  }

  private setActive(
    scope: TenantScope,
    workspace: WorkspaceContext,
    selector: RecordSelector,
    active: boolean,
  ): Promise<JobConfWrite> {
    return this.change(scope, workspace, selector, async (tx, place, row) => {
      if ((openEnded(row.to_date) === null) === active) {
        const state = active ? 'enabled' : 'disabled';
        throw conflict('JOB_CONF.INVALID_STATE', `The job configuration "${row.name}" is already ${state}.`);
      }
      await this.repository.setEnd(tx, place, row.job_conf_id, active);
      return this.repository.get(place, { id: row.job_conf_id }, tx);
    });
  }

  private change(
    scope: TenantScope,
    workspace: WorkspaceContext,
    selector: RecordSelector,
    work: (tx: Tx, place: WorkspaceScope, row: JobConfRow) => Promise<JobConfRow>,
  ): Promise<JobConfWrite> {
    return this.transactions.run(async (tx) => {
      const { place, row } = await this.locked(tx, scope, workspace, selector);
      return write(await work(tx, place, row));
    });
  }

  /** The configuration for a change of it: until `tx` ends nobody submits a run of it. */
  private async locked(tx: Tx, scope: TenantScope, workspace: WorkspaceContext, selector: RecordSelector) {
    await this.workspaces.lockActive(tx, workspace.workspaceId);
    const place = inWorkspace(scope, workspace);
    return { place, row: await this.repository.get(place, selector, tx, true) };
  }

  /** Columns of a changed limit: its runs are counted as long as it has one. */
  private async limit(tx: Tx, row: JobConfRow, limit: number | undefined): Promise<Values<JobConf>> {
    if (limit === undefined) return {};
    if (limit === 0) return { max_concurrency: limit, unfinished_runs: null };
    const unfinished = row.unfinished_runs ?? (await this.repository.unfinishedRuns(tx, row.job_conf_id, null));
    return { max_concurrency: limit, unfinished_runs: unfinished };
  }
}

/** Checks a configuration against what its type needs and refuses; answers the rule of the type. */
export function checkSettings(language: JobLanguage, settings: Required<JobSettings>) {
  if (!isRunnable(language)) {
    throw invalid('JOB_CONF.TYPE_UNSUPPORTED', `This release does not run ${toWire(language)} jobs.`);
  }
  const rule = JOB_TYPE_RULES[language];
  const given = { command: settings.command, class_name: settings.class_name, raw_scala_code: settings.rawScalaCode };
  const label = { command: 'command', class_name: 'class_name', raw_scala_code: 'rawScalaCode' };
  for (const field of rule.needs) {
    if (given[field] === null || given[field].trim() === '') {
      throw invalid('JOB_CONF.FIELD_REQUIRED', `A ${language} job needs ${label[field]}.`, { field: label[field] });
    }
  }
  for (const field of rule.refuses) {
    if (given[field] !== null) {
      throw invalid('JOB_CONF.FIELD_REFUSED', `A ${language} job takes no ${label[field]}.`, { field: label[field] });
    }
  }
  checkArguments(language, settings.arguments ?? '');
  for (const archive of settings.archives ?? []) assertArchiveFolder(archive);
  if (settings.keytab !== null) assertKeytab(settings.keytab);
  for (const file of filesNamed(settings, {})) if (file !== '') assertInWorkspace(file);
  return rule;
}

function checkArguments(language: RunnableLanguage, text: string): void {
  const words = splitArguments(text);
  const foreign = JOB_TYPE_RULES[language].kind === 'sql' ? foreignSqlArgument(words) : null;
  if (foreign === null) return;
  throw invalid(
    'JOB_CONF.INVALID_ARGUMENTS',
    `A ${language} job does not take the argument ${foreign}. It takes ${SQL_ARGUMENTS}.`,
  );
}

function own(row: JobConfRow) {
  return {
    name: row.name,
    max_concurrency: row.max_concurrency,
    spark_job_type: { job_type: toWire(row.job_type), language: toWire(row.language) },
    ...keysToWire(row.settings),
    tenant_id: row.tenant_id,
  };
}

/** Cluster as answers about its jobs show it. */
export function clusterInfo(
  row: Pick<JobConfRow, 'cluster_id' | 'cluster_name' | 'cluster_status' | 'cluster_type' | 'cluster_size'>,
) {
  return {
    cluster_id: row.cluster_id,
    name: row.cluster_name,
    cluster_status: row.cluster_status,
    cluster_type: toWire(row.cluster_type),
    instance_size: row.cluster_size,
  };
}

function read(row: JobConfRow): JobConfRead {
  return {
    job_conf_id: row.job_conf_id,
    cluster_id: row.cluster_id,
    workspace_id: row.workspace_id,
    ...own(row),
    cluster_info: clusterInfo(row),
    ...readAudit(row),
  };
}

function write(row: JobConfRow): JobConfWrite {
  return {
    job_conf_id: idText(row.job_conf_id),
    cluster_id: idText(row.cluster_id),
    workspace_id: idText(row.workspace_id),
    ...own(row),
    ...writeAudit(row),
  };
}
