import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceContext } from '../../platform/auth/principal';
import { conflict, type DomainError, invalid, notFound } from '../../platform/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../platform/http/answers';
import type { Page } from '../../platform/http/page';
import { describeSelector, type RecordSelector, selectorFrom } from '../../platform/http/selector';
import type { Tx } from '../../platform/persistence/sql';
import { Transactions } from '../../platform/persistence/transactions';
import { keysToWire, toWire } from '../../platform/product/product-name';
import { inWorkspace, type WorkspaceScope } from '../../platform/resources/workspace-resource-repository';
import { ClusterSlotsService } from '../clusters/cluster-slots.service';
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
} from './dto/job-conf.dto';
import { type JobConfRow, JobConfsRepository } from './job-confs.repository';
import type { JobConf } from './entities/job-conf.entity';
import { inferLanguage, isRunnable, JOB_TYPE_RULES, type JobLanguage } from './job-types';
import { splitArguments } from './split-arguments';

const CONF_ENTRY = /^[^=\s]+=/;

/** What to run in a workspace and how; the runs themselves are in `RunsService`. */
@Injectable()
export class JobConfsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: JobConfsRepository,
    private readonly workspaces: WorkspacesService,
    private readonly clusters: ClusterSlotsService,
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
    return this.transactions.run(async (tx) => {
      await this.workspaces.lockActive(tx, workspace.workspaceId);
      const selector = selectorFrom(body, 'cluster');
      const cluster = await this.clusters.find(tx, scope.tenantId, selector);
      if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with ${describeSelector(selector)}.`);
      const row = await this.repository.insert(tx, inWorkspace(scope, workspace), {
        cluster_id: cluster.cluster_id,
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

  /** Counts one more run of a configuration with a limit; 409 if it has as many as it may. */
  async countOneMore(tx: Tx, conf: Pick<JobConf, 'job_conf_id' | 'name' | 'max_concurrency'>): Promise<void> {
    if (await this.repository.countOneMore(tx, conf.job_conf_id)) return;
    const unfinished = conf.max_concurrency;
    throw conflict(
      'JOB_CONF.MAX_CONCURRENCY',
      `The job configuration "${conf.name}" already has ${unfinished} unfinished jobs, as many as its max_concurrency allows.`,
      { unfinished, max_concurrency: conf.max_concurrency },
    );
  }

  /** The 404 for a configuration that the workspace does not have. */
  absent(scope: WorkspaceScope, selector: RecordSelector): DomainError {
    return this.repository.absent(scope, selector);
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
  for (const entry of settings.conf ?? []) {
    if (!CONF_ENTRY.test(entry)) throw invalid('JOB_CONF.INVALID_CONF', `The conf entry "${entry}" is not key=value.`);
  }
  splitArguments(settings.arguments ?? '');
  return rule;
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
