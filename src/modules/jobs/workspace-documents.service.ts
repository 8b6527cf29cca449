import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceContext } from '../../platform/auth/principal';
import { asRefusal, conflict, DomainError, invalid } from '../../platform/errors/domain-error';
import type { FileContent } from '../../platform/files/content';
import { idText } from '../../platform/http/answers';
import { selectorFrom } from '../../platform/http/selector';
import { Transactions } from '../../platform/persistence/transactions';
import { productName } from '../../platform/product/product-name';
import { inWorkspace, type WorkspaceScope } from '../../platform/resources/workspace-resource-repository';
import { checkConf } from '../clusters/spark-conf.contract';
import { checkPackages, checkRepositories } from '../dependency-repositories/dependencies.contract';
import { DependencyRepositoriesService } from '../dependency-repositories/dependency-repositories.service';
import { WorkspacesService } from '../workspaces/workspaces.service';
import {
  type FailedImport,
  FORMAT_VERSION,
  type WorkspaceExport,
  type WorkspaceExportQuery,
  type WorkspaceImportQuery,
  type WorkspaceImportResult,
} from './dto/workspace-document.dto';
import { settingsOf } from './dto/job-conf.dto';
import { exportJobConf, readJobConf } from './job-conf-documents';
import { checkSettings, JobConfsService } from './job-confs.service';
import { type ImportedJobConf, JobConfsRepository } from './job-confs.repository';
import type { JobLanguage } from './job-types';

/** Configurations that are read or written at once. */
const BATCH = 200;

/** Configurations of a document that are checked before others have their turn: some milliseconds. */
const CHECKED = 20;

type Read = { conf: ImportedJobConf } | { failed: FailedImport; error: DomainError };

/** Workspaces as documents, by which they move between installations. */
@Injectable()
export class WorkspaceDocumentsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: JobConfsRepository,
    private readonly jobConfs: JobConfsService,
    private readonly workspaces: WorkspacesService,
    private readonly dependencies: DependencyRepositoriesService,
  ) {}

  /** Opens the document of a workspace, which is written as it is sent. */
  export(scope: TenantScope, workspace: WorkspaceContext, { enable }: WorkspaceExportQuery): FileContent {
    const text = this.written(inWorkspace(scope, workspace), enable);
    return {
      kind: 'file',
      name: `${workspace.name}.${productName().toLowerCase()}`,
      stream: Readable.from(text, { objectMode: false }),
      sizeBytes: null,
      asError: (error) => error,
    };
  }

  /** All of the document in one transaction, or with `permissive` what of it can be. */
  async import(
    scope: TenantScope,
    workspace: WorkspaceContext,
    query: WorkspaceImportQuery,
    document: WorkspaceExport,
  ): Promise<WorkspaceImportResult> {
    const { overwrite, permissive } = query;
    assertVersion(document.format_version ?? 1);
    const allowed = await this.dependencies.allowed(scope);
    const jobConfs = await readAll(document.spark_job_confs, allowed);
    const read = [...jobConfs, ...document.notebook_confs.map(notebookRefused)];
    const confs = read.flatMap((one) => ('conf' in one ? [one.conf] : []));
    const failed = read.flatMap((one) => ('failed' in one ? [one] : []));
    if (!permissive && failed[0]) throw failed[0].error;
    return this.transactions.run(async (tx) => {
      const place = inWorkspace(scope, workspace);
      const { description } = document.workspace;
      if (description) await this.workspaces.describe(tx, scope, workspace.workspaceId, description);
      await this.workspaces.lockActive(tx, workspace.workspaceId);
      const reports = failed.map(({ failed: report }) => report);
      let imported = 0;
      if (confs.length > 0) {
        const clusterId = await this.jobConfs.usableCluster(tx, scope, workspace, selectorFrom(query, 'cluster'));
        for (let from = 0; from < confs.length; from += BATCH) {
          const batch = confs.slice(from, from + BATCH);
          const written = new Set(await this.repository.import(tx, place, clusterId, batch, overwrite));
          imported += written.size;
          for (const { name } of batch.filter((conf) => !written.has(conf.name))) {
            const error = taken(name);
            if (!permissive) throw error;
            reports.push(report(name, error));
          }
        }
      }
      return {
        message: `Imported ${imported} of ${read.length} configurations into the workspace "${workspace.name}".`,
        workspace_id: idText(workspace.workspaceId),
        imported: { spark_job_confs: imported, notebook_confs: 0 },
        failed: reports,
      };
    });
  }

  private async *written(place: WorkspaceScope, enabled: boolean | undefined): AsyncGenerator<string> {
    const { name, description } = place.workspace;
    const head = {
      format_version: FORMAT_VERSION,
      exported_at: new Date().toISOString(),
      workspace: { name, description },
    };
    yield `${JSON.stringify(head).slice(0, -1)},"spark_job_confs":[`;
    let separator = '\n';
    let after = 0;
    for (;;) {
      const confs = await this.repository.someOf(place, { enabled, after, limit: BATCH });
      for (const conf of confs) {
        yield separator + JSON.stringify(exportJobConf(conf));
        separator = ',\n';
      }
      const last = confs.at(-1);
      if (!last || confs.length < BATCH) break;
      after = last.job_conf_id;
    }
    yield '\n],"notebook_confs":[]}\n';
  }
}

function assertVersion(version: number): void {
  if (version <= FORMAT_VERSION) return;
  throw invalid(
    'WORKSPACE_DOCUMENT.VERSION_UNKNOWN',
    `The document has format version ${version}; this release reads versions up to ${FORMAT_VERSION}.`,
  );
}

/** What the configurations of a document are checked against. */
interface Known {
  /** Of the configurations before. */
  names: Set<string>;
  /** Repositories of packages. */
  allowed: ReadonlySet<string>;
}

/** In turns with other requests: a document may have thousands. */
async function readAll(given: readonly unknown[], allowed: ReadonlySet<string>): Promise<Read[]> {
  const read: Read[] = [];
  const known: Known = { names: new Set(), allowed };
  for (const [index, one] of given.entries()) {
    if (index % CHECKED === CHECKED - 1) await new Promise((resolve) => setImmediate(resolve));
    read.push(await readOne(one, index, known));
  }
  return read;
}

async function readOne(given: unknown, index: number, { names, allowed }: Known): Promise<Read> {
  const name = nameOf(given, 'name');
  try {
    const { name: checked, job_type, max_concurrency, ...settings } = await readJobConf(given);
    if (names.has(checked)) throw invalid('WORKSPACE_DOCUMENT.NAME_TWICE', 'The document has this name twice.');
    const complete = settingsOf(settings);
    const { type, language } = checkSettings(job_type as JobLanguage, complete);
    checkConf('JOB_CONF', complete.conf);
    checkPackages('JOB_CONF', complete.packages);
    checkRepositories('JOB_CONF', complete.repositories, allowed);
    names.add(checked);
    return { conf: { name: checked, job_type: type, language, max_concurrency, settings: complete } };
  } catch (error) {
    const { kind, code, message, details } = asRefusal(error);
    const where = `spark_job_confs[${index}]${name === '' ? '' : ` "${name}"`}`;
    return {
      failed: report(name, { code, message }),
      error: new DomainError(kind, code, `${where}: ${message}`, details),
    };
  }
}

function notebookRefused(given: unknown): Read {
  const error = invalid('NOTEBOOK_CONF.UNSUPPORTED', 'This release has no notebooks. Leave notebook_confs empty.');
  return { failed: { ...report(nameOf(given, 'notebook_name'), error), kind: 'notebook_conf' }, error };
}

function taken(name: string): DomainError {
  return conflict(
    'RECORD.DUPLICATE_NAME',
    `The workspace has a job configuration "${name}" already. Send overwrite=true to replace it.`,
  );
}

function report(name: string, { code, message }: Pick<DomainError, 'code' | 'message'>): FailedImport {
  return { kind: 'spark_job_conf', name, error_code: code, error_message: message };
}

const MOST_SHOWN = 64;

/** The name that a part of a document gives itself, as far as it is one; texts of strangers are cut short. */
function nameOf(given: unknown, key: string): string {
  const name = typeof given === 'object' && given !== null ? (given as Record<string, unknown>)[key] : undefined;
  return typeof name === 'string' ? name.slice(0, MOST_SHOWN) : '';
}
