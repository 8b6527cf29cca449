import { Injectable } from '@nestjs/common';
import { emptyDocument } from '../../../../../libs/notebooks/ipynb';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid } from '../../../../platform/kernel/errors/domain-error';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { idText, type Message, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Page } from '../../../../platform/kernel/dto/page';
import { type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { checkConf } from '../../clusters';
import {
  assertFiles,
  clusterInfo,
  type ConfigurationValues,
  type JobSettings,
  NOTEBOOK,
  type RunConfigurationRow,
  RunConfigurationsService,
  settingsOf,
} from '../../runs';
import { WorkspaceFilesService } from '../../workspaces';
import {
  type CreateNotebookConf,
  languageOf,
  NOTEBOOK_SETTINGS,
  type NotebookConfListItem,
  type NotebookConfListQuery,
  type NotebookConfRead,
  type NotebookConfSearchQuery,
  type NotebookConfWrite,
  typeOf,
  type UpdateNotebookConf,
} from './dto/notebook-conf.dto';
import { NotebookCellsService } from './notebook-cells.service';
import { type CurrentNotebook, NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService } from './notebook-documents.service';
import { NotebookReader } from './notebook-reader.service';
import { notebookPath, NotebookStagingService, type StagedNotebook } from './notebook-staging.service';

/** Notebook configurations. Their instances are in `instances`. */
@Injectable()
export class NotebookConfsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly configurations: RunConfigurationsService,
    private readonly documents: NotebookDocumentsService,
    private readonly documentsRepository: NotebookDocumentsRepository,
    private readonly cells: NotebookCellsService,
    private readonly staging: NotebookStagingService,
    private readonly files: WorkspaceFilesService,
    private readonly reader: NotebookReader,
  ) {}

  async list(
    scope: WorkspaceScope,
    query: NotebookConfListQuery | NotebookConfSearchQuery,
  ): Promise<Page<NotebookConfListItem>> {
    const partOfName = 'notebook_name' in query ? query.notebook_name : undefined;
    const page = await this.configurations.list({ ...scope, kind: NOTEBOOK }, query, partOfName);
    const paths = await this.documentsRepository.paths(page.data.map(({ job_conf_id }) => job_conf_id));
    return {
      ...page,
      data: page.data.map((row) => ({
        ...read(row, paths.get(row.job_conf_id)),
        last_notebook_run:
          row.last_run_id === null
            ? null
            : { notebook_id: row.last_run_id, notebook_status: row.last_run_status ?? '' },
      })),
    };
  }

  /** Returns a `NotebookConfRead` as chunks of JSON, because a notebook with its outputs may be large. */
  async get(scope: WorkspaceScope, selector: RecordSelector, withOutputs: boolean): Promise<AsyncIterable<string>> {
    const row = await this.configurations.get({ ...scope, kind: NOTEBOOK }, selector);
    const paths = await this.documentsRepository.paths([row.job_conf_id]);
    const current = await this.documents.current(row.job_conf_id);
    return this.jsonParts(current, read(row, paths.get(row.job_conf_id)), withOutputs);
  }

  async create(scope: WorkspaceScope, body: CreateNotebookConf): Promise<NotebookConfWrite> {
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    const { notebook_name: name, notebook_type, notebook_path, max_concurrency } = body;
    const settings = settingsOf(body);
    const language = languageOf(notebook_type);
    assertFiles(settings);
    checkConf('NOTEBOOK_CONF', settings.conf);
    const staged = await this.stage(scope, notebookPath(notebook_path ?? `/${name}.ipynb`), language);
    const conf = { name, job_type: 'NOTEBOOK', language, max_concurrency, settings };
    return this.insert(scope, conf, selectorFrom(body, 'cluster'), staged);
  }

  update(scope: WorkspaceScope, selector: RecordSelector, body: UpdateNotebookConf): Promise<NotebookConfWrite> {
    const { notebook_name: name, ...changes } = body;
    return this.transactions.run(async (tx) =>
      this.write(
        await this.configurations.update(tx, { ...scope, kind: NOTEBOOK }, selector, { ...changes, name }),
        tx,
      ),
    );
  }

  setActive(scope: WorkspaceScope, selector: RecordSelector, active: boolean): Promise<NotebookConfWrite> {
    return this.transactions.run(async (tx) =>
      this.write(await this.configurations.setActive(tx, { ...scope, kind: NOTEBOOK }, selector, active), tx),
    );
  }

  /** Keeps the file, and the revisions that instances were started with. */
  delete(scope: WorkspaceScope, selector: RecordSelector): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const { name, job_conf_id: id } = await this.configurations.delete(tx, { ...scope, kind: NOTEBOOK }, selector);
      await this.documentsRepository.delete(tx, id);
      return { message: `The notebook configuration "${name}" (id ${id}) is deleted.` };
    });
  }

  async clone(
    scope: WorkspaceScope,
    selector: RecordSelector,
    copy: { name: string; path: string | undefined },
  ): Promise<NotebookConfWrite> {
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    const row = await this.configurations.get({ ...scope, kind: NOTEBOOK }, selector);
    const path = notebookPath(copy.path ?? `/${copy.name}.ipynb`);
    if (await this.files.at(scope.workspace, path))
      throw conflict('FILE.EXISTS', `The file "${path}" already exists. Choose another clone_file_path.`);
    const document = await this.documents.read(await this.documents.current(row.job_conf_id));
    const staged = await this.staging.stage(scope.tenantId, path, { document, outputs: new Map() });
    const { job_type, language, max_concurrency, settings, cluster_id: id } = row;
    const conf = { name: copy.name, job_type, language, max_concurrency, settings };
    return this.insert(scope, conf, { id }, staged);
  }

  async export(scope: WorkspaceScope, selector: RecordSelector): Promise<FileContent> {
    const row = await this.configurations.get({ ...scope, kind: NOTEBOOK }, selector);
    return this.documents.export(row.job_conf_id, row.name);
  }

  private async write(row: RunConfigurationRow, tx: Tx): Promise<NotebookConfWrite> {
    const paths = await this.documentsRepository.paths([row.job_conf_id], tx);
    return write(row, paths.get(row.job_conf_id));
  }

  private async *jsonParts(current: CurrentNotebook, head: object, withOutputs: boolean): AsyncGenerator<string> {
    const start = { ...head, revision_id: current.notebook_revision_id };
    yield `${JSON.stringify(start).slice(0, -1)},"notebook_cells":{"cells":[`;
    yield* this.cells.jsonParts(current, withOutputs);
    yield ']}}';
  }

  private async insert(
    scope: WorkspaceScope,
    conf: ConfigurationValues,
    cluster: RecordSelector,
    staged: StagedNotebook,
  ): Promise<NotebookConfWrite> {
    let unused: string[] | null = null;
    try {
      return await this.transactions.run(async (tx) => {
        unused = null;
        await this.files.lock(tx, scope.workspace);
        const row = await this.configurations.add(tx, { ...scope, kind: NOTEBOOK }, conf, cluster);
        const discarded = await this.staging.commit(tx, scope, row.job_conf_id, staged);
        const answer = await this.write(row, tx);
        unused = discarded;
        return answer;
      });
    } finally {
      if (unused === null) await this.staging.discard(staged);
      else await this.files.discard(unused);
    }
  }

  private async stage(
    { tenantId, workspace }: WorkspaceScope,
    path: string,
    language: string,
  ): Promise<StagedNotebook> {
    const file = await this.files.at(workspace, path);
    if (!file) {
      return this.staging.stage(tenantId, path, { document: emptyDocument(language), outputs: new Map() });
    }
    if (file.is_dir)
      throw invalid('NOTEBOOK_CONF.INVALID_PATH', `notebook_path "/${path}" is a directory. Name an .ipynb file.`);
    const open = async () => (await this.files.read(file)).stream;
    const notebook = await this.reader.read(tenantId, path, { sizeBytes: file.size_bytes ?? 0, open });
    return this.staging.stage(tenantId, path, notebook, file);
  }
}

function sharedFields(row: RunConfigurationRow, path: string | undefined) {
  const settings = Object.fromEntries(NOTEBOOK_SETTINGS.map((name) => [name, row.settings[name]]));
  return {
    notebook_name: row.name,
    notebook_type: typeOf(row.language),
    notebook_path: `/${path ?? ''}`,
    max_concurrency: row.max_concurrency,
    spark_job_type: { job_type: row.job_type, language: row.language },
    ...(settings as Pick<Required<JobSettings>, (typeof NOTEBOOK_SETTINGS)[number]>),
    tenant_id: row.tenant_id,
  };
}

function read(
  row: RunConfigurationRow,
  path: string | undefined,
): Omit<NotebookConfRead, 'notebook_cells' | 'revision_id'> {
  return {
    notebook_conf_id: row.job_conf_id,
    cluster_id: row.cluster_id,
    workspace_id: row.workspace_id,
    ...sharedFields(row, path),
    cluster_info: clusterInfo(row),
    ...readAudit(row),
  };
}

function write(row: RunConfigurationRow, path: string | undefined): NotebookConfWrite {
  return {
    notebook_conf_id: idText(row.job_conf_id),
    cluster_id: idText(row.cluster_id),
    workspace_id: idText(row.workspace_id),
    ...sharedFields(row, path),
    ...writeAudit(row),
  };
}
