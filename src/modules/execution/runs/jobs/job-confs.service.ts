import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { foreignSqlArgument, SQL_ARGUMENTS } from '../../../../../libs/spark/sql-arguments';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/answers';
import type { Page } from '../../../../platform/kernel/dto/page';
import { type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import { keysToWire, toWire } from '../../../../platform/kernel/product/product-name';
import { checkConf } from '../../clusters';
import { assertFiles, ConfParts, ConfsOfKind } from './confs-of-kind';
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
import { assertKeytab } from './file-reference';
import { exportJobConf } from './job-conf-documents';
import { checkFunction } from './function-settings';
import { inferLanguage, JOB_TYPE_RULES, type JobLanguage, shownLanguage } from './job-types';
import { splitArguments } from './split-arguments';

/** What to run in a workspace and how; the runs themselves are in `RunsService`. */
@Injectable()
export class JobConfsService extends ConfsOfKind<JobConfWrite> {
  protected readonly who = 'JOB_CONF';
  protected readonly runs = 'jobs';

  constructor(parts: ConfParts, repository: JobConfsRepository) {
    super(parts, repository);
  }

  async list(scope: WorkspaceScope, query: JobConfListQuery | JobConfSearchQuery): Promise<Page<JobConfListItem>> {
    const partOfName = 'job_conf_name' in query ? query.job_conf_name : undefined;
    const page = await this.page(scope, query, partOfName);
    return {
      ...page,
      data: page.data.map((row) => ({
        ...read(row),
        last_job_run:
          row.last_run_id === null ? null : { job_id: row.last_run_id, job_status: row.last_run_status ?? '' },
      })),
    };
  }

  async get(scope: WorkspaceScope, selector: RecordSelector): Promise<JobConfRead> {
    return read(await this.repository.get(scope, selector));
  }

  async create(scope: WorkspaceScope, body: CreateJobConf): Promise<JobConfWrite> {
    const settings = settingsOf(body);
    const given = (body.job_type as JobLanguage | undefined) ?? inferLanguage(settings.command, settings.rawScalaCode);
    const { type: job_type, language } = checkSettings(given, settings);
    checkConf('JOB_CONF', settings.conf);
    const { name, max_concurrency } = body;
    const conf = { name, job_type, language, max_concurrency, settings };
    return this.parts.transactions.run(async (tx) =>
      write(await this.add(tx, scope, conf, selectorFrom(body, 'cluster'))),
    );
  }

  update(scope: WorkspaceScope, selector: RecordSelector, body: UpdateJobConf): Promise<JobConfWrite> {
    return this.updateConf(scope, selector, body, body.name);
  }

  /** Opens a configuration as a document. */
  async export(scope: WorkspaceScope, selector: RecordSelector): Promise<FileContent> {
    const row = await this.repository.get(scope, selector);
    const text = Buffer.from(`${JSON.stringify(exportJobConf(row), null, 2)}\n`);
    return {
      kind: 'file',
      name: `${row.name}.json`,
      stream: Readable.from(text, { objectMode: false }),
      sizeBytes: text.length,
      asError: (error) => error,
    };
  }

  protected write(row: JobConfRow): JobConfWrite {
    return write(row);
  }

  protected check(language: JobConf['language'], settings: Required<JobSettings>): void {
    checkSettings(language as JobLanguage, settings);
  }
}

/** Checks a configuration against what its type needs and refuses; answers the rule of the type. */
export function checkSettings(language: JobLanguage, settings: Required<JobSettings>) {
  const rule = JOB_TYPE_RULES[language];
  const given = { ...settings, raw_scala_code: settings.rawScalaCode };
  const label = (field: string) => (field === 'raw_scala_code' ? 'rawScalaCode' : toWire(field));
  for (const field of rule.needs) {
    if (given[field] === null || given[field].trim() === '') {
      throw invalid('JOB_CONF.FIELD_REQUIRED', `A ${toWire(language)} job needs ${label(field)}.`, {
        field: label(field),
      });
    }
  }
  for (const field of rule.refuses) {
    if (given[field] !== null) {
      throw invalid('JOB_CONF.FIELD_REFUSED', `A ${toWire(language)} job takes no ${label(field)}.`, {
        field: label(field),
      });
    }
  }
  checkArguments(language, settings.arguments ?? '');
  if (language === 'PLATFORM_FUNCTIONS') checkFunction(settings);
  if (settings.keytab !== null) assertKeytab(settings.keytab);
  assertFiles(settings);
  return rule;
}

function checkArguments(language: JobLanguage, text: string): void {
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
    spark_job_type: { job_type: toWire(row.job_type), language: toWire(shownLanguage(row.language)) },
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
