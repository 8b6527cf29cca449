import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { idText, type Message, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Page } from '../../../../platform/kernel/dto/page';
import { type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { keysToWire, toWire } from '../../../../platform/kernel/product/product-name';
import { checkConf } from '../../clusters';
import {
  type CreateJobConf,
  type JobConfListItem,
  type JobConfListQuery,
  type JobConfRead,
  type JobConfSearchQuery,
  type JobConfWrite,
  settingsOf,
  type UpdateJobConf,
} from './dto/job-conf.dto';
import type { RunConfigurationRow } from './run-configurations.repository';
import { RunConfigurationsService } from './run-configurations.service';
import { JOB } from './run-kinds';
import { checkJobSettings } from './settings-check';
import { exportJobConf } from './job-conf-documents';
import { inferLanguage, JOB_TYPE_RULES, type JobLanguage, shownLanguage } from './job-types';

@Injectable()
export class JobConfsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly configurations: RunConfigurationsService,
  ) {}

  async list(scope: WorkspaceScope, query: JobConfListQuery | JobConfSearchQuery): Promise<Page<JobConfListItem>> {
    const partOfName = 'job_conf_name' in query ? query.job_conf_name : undefined;
    const page = await this.configurations.list({ ...scope, kind: JOB }, query, partOfName);
    return {
      ...page,
      data: page.data.map((row) => ({
        ...toRead(row),
        last_job_run:
          row.last_run_id === null ? null : { job_id: row.last_run_id, job_status: row.last_run_status ?? '' },
      })),
    };
  }

  async get(scope: WorkspaceScope, selector: RecordSelector): Promise<JobConfRead> {
    return toRead(await this.configurations.get({ ...scope, kind: JOB }, selector));
  }

  async create(scope: WorkspaceScope, body: CreateJobConf): Promise<JobConfWrite> {
    const settings = settingsOf(body);
    const jobLanguage =
      (body.job_type as JobLanguage | undefined) ?? inferLanguage(settings.command, settings.rawScalaCode);
    checkJobSettings(jobLanguage, settings);
    checkConf('JOB_CONF', settings.conf);
    const { type: job_type, language } = JOB_TYPE_RULES[jobLanguage];
    const { name, max_concurrency } = body;
    const values = { name, job_type, language, max_concurrency, settings };
    const cluster = selectorFrom(body, 'cluster');
    return this.transactions.run(async (tx) =>
      toWrite(await this.configurations.add(tx, { ...scope, kind: JOB }, values, cluster)),
    );
  }

  update(scope: WorkspaceScope, selector: RecordSelector, body: UpdateJobConf): Promise<JobConfWrite> {
    return this.transactions.run(async (tx) =>
      toWrite(await this.configurations.update(tx, { ...scope, kind: JOB }, selector, body)),
    );
  }

  setActive(scope: WorkspaceScope, selector: RecordSelector, active: boolean): Promise<JobConfWrite> {
    return this.transactions.run(async (tx) =>
      toWrite(await this.configurations.setActive(tx, { ...scope, kind: JOB }, selector, active)),
    );
  }

  delete(scope: WorkspaceScope, selector: RecordSelector): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const { name, job_conf_id: id } = await this.configurations.delete(tx, { ...scope, kind: JOB }, selector);
      return { message: `The job configuration "${name}" (id ${id}) is deleted.` };
    });
  }

  async export(scope: WorkspaceScope, selector: RecordSelector): Promise<FileContent> {
    const row = await this.configurations.get({ ...scope, kind: JOB }, selector);
    const text = Buffer.from(`${JSON.stringify(exportJobConf(row), null, 2)}\n`);
    return {
      kind: 'file',
      name: `${row.name}.json`,
      stream: Readable.from(text, { objectMode: false }),
      sizeBytes: text.length,
      asError: (error) => error,
    };
  }
}

function sharedFields(row: RunConfigurationRow) {
  return {
    name: row.name,
    max_concurrency: row.max_concurrency,
    spark_job_type: { job_type: toWire(row.job_type), language: toWire(shownLanguage(row.language)) },
    ...keysToWire(row.settings),
    tenant_id: row.tenant_id,
  };
}

/** Returns the cluster as responses about its jobs show it. */
export function clusterInfo(
  row: Pick<RunConfigurationRow, 'cluster_id' | 'cluster_name' | 'cluster_status' | 'cluster_type' | 'cluster_size'>,
) {
  return {
    cluster_id: row.cluster_id,
    name: row.cluster_name,
    cluster_status: row.cluster_status,
    cluster_type: toWire(row.cluster_type),
    instance_size: row.cluster_size,
  };
}

function toRead(row: RunConfigurationRow): JobConfRead {
  return {
    job_conf_id: row.job_conf_id,
    cluster_id: row.cluster_id,
    workspace_id: row.workspace_id,
    ...sharedFields(row),
    cluster_info: clusterInfo(row),
    ...readAudit(row),
  };
}

function toWrite(row: RunConfigurationRow): JobConfWrite {
  return {
    job_conf_id: idText(row.job_conf_id),
    cluster_id: idText(row.cluster_id),
    workspace_id: idText(row.workspace_id),
    ...sharedFields(row),
    ...writeAudit(row),
  };
}
