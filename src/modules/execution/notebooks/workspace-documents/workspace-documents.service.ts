import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { asRefusal, conflict, DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import { selectorFrom } from '../../../../platform/kernel/dto/selector';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { productName } from '../../../../platform/kernel/product/product-name';
import { checkConf } from '../../clusters';
import { checkPackages, checkRepositories, DependencyRepositoriesService } from '../../../infrastructure/storage';
import { WorkspacesService } from '../../workspaces';
import {
  type FailedImport,
  FORMAT_VERSION,
  type WorkspaceExport,
  type WorkspaceExportQuery,
  type WorkspaceImportQuery,
  type WorkspaceImportResult,
} from './dto/workspace-document.dto';
import {
  checkJobSettings,
  type ConfigurationValues,
  exportJobConf,
  JOB,
  JOB_TYPE_RULES,
  type JobLanguage,
  readJobConf,
  RunConfigurationsService,
  settingsOf,
} from '../../runs';
import { readNotebookConf } from '../content/notebook-conf-documents';
import { DocumentedNotebooks, type ReadNotebookConf } from './documented-notebooks.service';

const BATCH = 200;

/** Configurations that are checked before the event loop serves other requests; they take some milliseconds. */
const CHECKS_PER_TURN = 20;

interface Failure {
  failed: FailedImport;
  error: DomainError;
}

type Kind = FailedImport['kind'];

/** The importable configurations of a document, and the failures of the others. */
interface ReadDocument {
  jobConfs: ConfigurationValues[];
  notebookConfs: ReadNotebookConf[];
  failures: Failure[];
}

/** The result of the transaction of an import. */
interface Imported {
  imported: WorkspaceImportResult['imported'];
  failures: Failure[];
  unused: string[];
  skipped: ReadNotebookConf[];
}

/** Exports and imports workspaces, to move them between installations. */
@Injectable()
export class WorkspaceDocumentsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly configurations: RunConfigurationsService,
    private readonly workspaces: WorkspacesService,
    private readonly dependencies: DependencyRepositoriesService,
    private readonly notebooks: DocumentedNotebooks,
  ) {}

  /** Returns the document of a workspace as a stream. */
  export(scope: WorkspaceScope, { enable }: WorkspaceExportQuery): FileContent {
    const text = this.jsonParts(scope, enable);
    return {
      kind: 'file',
      name: `${scope.workspace.name}.${productName().toLowerCase()}`,
      stream: Readable.from(text, { objectMode: false }),
      sizeBytes: null,
      asError: (error) => error,
    };
  }

  /** Imports the document in one transaction: all of it, or with `permissive` its valid configurations. */
  async import(
    scope: WorkspaceScope,
    query: WorkspaceImportQuery,
    document: WorkspaceExport,
  ): Promise<WorkspaceImportResult> {
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    assertVersion(document.format_version ?? 1);
    const read = await this.read(scope, document, query.permissive);
    const { notebookConfs } = read;
    let skipped = notebookConfs;
    let unused: readonly string[] = [];
    try {
      const answer = await this.transactions.run(async (tx) => {
        skipped = notebookConfs;
        const done = await this.importAll(tx, scope, query, document, read);
        skipped = done.skipped;
        unused = done.unused;
        const { spark_job_confs: jobs, notebook_confs: notebooks } = done.imported;
        const all = document.spark_job_confs.length + document.notebook_confs.length;
        return {
          message: `Imported ${jobs + notebooks} of ${all} configurations into the workspace "${scope.workspace.name}".`,
          workspace_id: idText(scope.workspace.workspaceId),
          imported: done.imported,
          failed: done.failures.map(({ failed: report }) => report),
        };
      });
      await this.notebooks.discardReplaced(unused);
      return answer;
    } catch (error) {
      skipped = notebookConfs;
      throw error;
    } finally {
      await this.notebooks.discard(skipped);
    }
  }

  /** Reads the configurations. Without `permissive` it throws for the first invalid one. */
  private async read(scope: TenantScope, document: WorkspaceExport, permissive: boolean): Promise<ReadDocument> {
    const allowed = await this.dependencies.allowed(scope);
    const found: ReadDocument = { jobConfs: [], notebookConfs: [], failures: [] };
    const fail = (failure: Failure) => {
      if (!permissive) throw failure.error;
      found.failures.push(failure);
    };
    try {
      await readAll('spark_job_conf', document.spark_job_confs, fail, async (one, known) => {
        const conf = await readJob(one, allowed);
        known.add(conf.name);
        found.jobConfs.push(conf);
      });
      await readAll('notebook_conf', document.notebook_confs, fail, async (one, known) => {
        const read = await readNotebookConf(one);
        known.add(read.conf.name);
        known.add(`/${read.path}`);
        found.notebookConfs.push(await this.notebooks.stage(scope, read));
      });
      return found;
    } catch (error) {
      await this.notebooks.discard(found.notebookConfs);
      throw error;
    }
  }

  private async importAll(
    tx: Tx,
    scope: WorkspaceScope,
    query: WorkspaceImportQuery,
    document: WorkspaceExport,
    { jobConfs, notebookConfs, failures }: ReadDocument,
  ): Promise<Imported> {
    const done: Imported = {
      imported: { spark_job_confs: 0, notebook_confs: 0 },
      failures: [...failures],
      unused: [],
      skipped: [],
    };
    const { description } = document.workspace;
    if (description) await this.workspaces.describe(tx, scope, scope.workspace.workspaceId, description);
    await this.workspaces.lockActive(tx, scope.workspace.workspaceId);
    if (jobConfs.length + notebookConfs.length === 0) return done;
    const clusterId = await this.configurations.usableCluster(tx, scope, selectorFrom(query, 'cluster'));
    const { overwrite, permissive } = query;
    const fail = (kind: Kind, name: string, error: DomainError) => {
      if (!permissive) throw error;
      done.failures.push({ failed: report(kind, name, error), error });
    };
    for (let from = 0; from < jobConfs.length; from += BATCH) {
      const batch = jobConfs.slice(from, from + BATCH);
      const rows = await this.configurations.import(tx, { ...scope, kind: JOB }, clusterId, batch, overwrite);
      const written = new Set(rows.map(({ name }) => name));
      done.imported.spark_job_confs += written.size;
      for (const { name } of batch) if (!written.has(name)) fail('spark_job_conf', name, nameTaken(name));
    }
    if (notebookConfs.length > 0) await this.notebooks.lock(tx, scope.workspace);
    for (const one of notebookConfs) {
      const result = await this.notebooks.import(tx, scope, one, { clusterId, overwrite });
      if ('error' in result) {
        fail('notebook_conf', one.conf.name, result.error);
        done.skipped.push(one);
        continue;
      }
      done.imported.notebook_confs += 1;
      done.unused.push(...result.unused);
    }
    return done;
  }

  private async *jsonParts(scope: WorkspaceScope, enabled: boolean | undefined): AsyncGenerator<string> {
    const { name, description } = scope.workspace;
    const head = {
      format_version: FORMAT_VERSION,
      exported_at: new Date().toISOString(),
      workspace: { name, description },
    };
    yield `${JSON.stringify(head).slice(0, -1)},"spark_job_confs":[`;
    let separator = '\n';
    for await (const confs of this.configurations.all({ ...scope, kind: JOB }, enabled)) {
      for (const conf of confs) {
        yield separator + JSON.stringify(exportJobConf(conf));
        separator = ',\n';
      }
    }
    yield '\n],"notebook_confs":[';
    yield* this.notebooks.jsonParts(scope, enabled);
    yield '\n]}\n';
  }
}

function assertVersion(version: number): void {
  if (version <= FORMAT_VERSION) return;
  throw invalid(
    'WORKSPACE_DOCUMENT.VERSION_UNKNOWN',
    `The document has format version ${version}; this release reads versions up to ${FORMAT_VERSION}. Import it with a newer release.`,
  );
}

/** Names and paths of the configurations of a document, which must be unique. */
class UniqueKeys {
  private readonly taken = new Set<string>();

  add(key: string): void {
    if (this.taken.has(key))
      throw invalid(
        'WORKSPACE_DOCUMENT.NAME_TWICE',
        `The document contains "${key}" twice. Names and paths must be unique.`,
      );
    this.taken.add(key);
  }
}

/** Reads configurations, and lets other requests run in between, because there may be thousands. */
async function readAll(
  kind: Kind,
  configurations: readonly unknown[],
  fail: (failure: Failure) => void,
  readOne: (one: unknown, known: UniqueKeys) => Promise<void>,
): Promise<void> {
  const known = new UniqueKeys();
  for (const [index, one] of configurations.entries()) {
    if (index % CHECKS_PER_TURN === CHECKS_PER_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    const name = nameOf(one, kind === 'spark_job_conf' ? 'name' : 'notebook_name');
    try {
      await readOne(one, known);
    } catch (error) {
      const { kind: errorKind, code, message, details } = asRefusal(error);
      const position = `${kind}s[${index}]${name === '' ? '' : ` "${name}"`}`;
      fail({
        failed: report(kind, name, { code, message }),
        error: new DomainError(errorKind, code, `${position}: ${message}`, details),
      });
    }
  }
}

async function readJob(document: unknown, allowed: ReadonlySet<string>): Promise<ConfigurationValues> {
  const { name, job_type, max_concurrency, ...settings } = await readJobConf(document);
  const complete = settingsOf(settings);
  checkJobSettings(job_type as JobLanguage, complete);
  checkConf('JOB_CONF', complete.conf);
  checkPackages('JOB_CONF', complete.packages);
  checkRepositories('JOB_CONF', complete.repositories, allowed);
  const { type, language } = JOB_TYPE_RULES[job_type as JobLanguage];
  return { name, job_type: type, language, max_concurrency, settings: complete };
}

function nameTaken(name: string): DomainError {
  return conflict(
    'RECORD.DUPLICATE_NAME',
    `The workspace has a job configuration "${name}" already. Send overwrite=true to replace it.`,
  );
}

function report(kind: Kind, name: string, { code, message }: Pick<DomainError, 'code' | 'message'>): FailedImport {
  return { kind, name, error_code: code, error_message: message };
}

const MAX_SHOWN = 64;

/** Returns the name of an invalid configuration for the report, truncated because it is untrusted; empty if it has none. */
function nameOf(document: unknown, key: string): string {
  const name =
    typeof document === 'object' && document !== null ? (document as Record<string, unknown>)[key] : undefined;
  return typeof name === 'string' ? name.slice(0, MAX_SHOWN) : '';
}
