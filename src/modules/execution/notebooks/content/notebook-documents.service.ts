import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { parseTrusted } from '../../../../../libs/json/parse-json';
import {
  documentText,
  ipynbText,
  NO_OUTPUTS,
  type NotebookDocument,
  type WrittenOutputs,
} from '../../../../../libs/notebooks/ipynb';
import type { FileContent } from '../../../../platform/kernel/files/content';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { NotebookContentsService, type StagedText } from './notebook-contents.service';
import { type CurrentNotebook, NotebookDocumentsRepository, type RevisionText } from './notebook-documents.repository';
import { NotebookOutputsService } from './notebook-outputs.service';

/** Larger documents are stored in the blob store. */
const MAX_INLINE_BYTES = 64 * 1024;

/** A document that is about to become a revision; a large text is already in the blob store. */
export interface StagedDocument {
  document: NotebookDocument;
  text: StagedText;
}

/** The documents of notebooks and their revisions. */
@Injectable()
export class NotebookDocumentsService {
  constructor(
    private readonly repository: NotebookDocumentsRepository,
    private readonly contents: NotebookContentsService,
    private readonly outputs: NotebookOutputsService,
  ) {}

  /**
   * Returns the revision for a new run of the configuration and keeps it from then on; null if the configuration has no notebook.
   */
  currentRevision(tx: Tx, notebookConfId: number): Promise<number | null> {
    return this.repository.keepCurrent(tx, notebookConfId);
  }

  /** Returns a revision as an .ipynb file without outputs. @param name of the file, without extension */
  async exportRevision(tenantId: string, revisionId: number, name: string): Promise<FileContent> {
    const revision = await this.repository.revision(tenantId, revisionId);
    if (!revision)
      throw notFound('NOTEBOOK_REVISION.NOT_FOUND', `There is no notebook revision with id ${revisionId}.`);
    return ipynbFile(name, await this.read(revision), () => NO_OUTPUTS);
  }

  /** Returns the current notebook of a configuration as an .ipynb file with its outputs. */
  async export(notebookConfId: number, name: string): Promise<FileContent> {
    const current = await this.current(notebookConfId);
    const document = await this.read(current);
    const cells = await this.outputs.rows(notebookConfId);
    const order = document.cells.flatMap(({ id }) => cells.get(id) ?? []);
    const reader = this.outputs.reader(current.tenant_id, notebookConfId, order);
    return ipynbFile(name, document, ({ id }) => reader.written(id));
  }

  /** Returns the paths of the notebooks' files by configuration id. */
  paths(notebookConfIds: readonly number[], tx?: Tx): Promise<Map<number, string>> {
    return this.repository.paths(notebookConfIds, tx);
  }

  async current(notebookConfId: number, tx?: Tx): Promise<CurrentNotebook> {
    const current = await this.repository.current(notebookConfId, tx);
    if (!current) throw new Error(`The notebook configuration ${notebookConfId} has no notebook`);
    return current;
  }

  async read({ tenant_id, sha256, document }: RevisionText): Promise<NotebookDocument> {
    return parseTrusted<NotebookDocument>(document ?? (await this.contents.text(tenant_id, sha256)));
  }

  async stage(tenantId: string, document: NotebookDocument): Promise<StagedDocument> {
    return { document, text: await this.contents.stage(tenantId, documentText(document), MAX_INLINE_BYTES) };
  }

  /** Inserts a document as the first revision of a configuration. */
  async create(
    tx: Tx,
    owner: { tenantId: string; userId: number; notebookConfId: number; fileId: number },
    staged: StagedDocument,
  ): Promise<void> {
    const revisionId = await this.insert(tx, owner, staged);
    await this.repository.insert(tx, {
      job_conf_id: owner.notebookConfId,
      tenant_id: owner.tenantId,
      workspace_file_id: owner.fileId,
      notebook_revision_id: revisionId,
      output_bytes: 0,
    });
    await this.repository.setCells(tx, owner.notebookConfId, staged.document.cells);
  }

  /** Makes a document the current revision, if it differs, and returns its id. The caller has locked the notebook. */
  async change(
    tx: Tx,
    owner: { tenantId: string; userId: number; notebookConfId: number },
    staged: StagedDocument,
  ): Promise<number> {
    const { notebookConfId } = owner;
    const current = await this.current(notebookConfId, tx);
    if (current.sha256 === staged.text.sha256) return current.notebook_revision_id;
    const revisionId = await this.insert(tx, owner, staged);
    await this.repository.setCurrent(tx, notebookConfId, revisionId);
    await this.repository.setCells(tx, notebookConfId, staged.document.cells);
    await this.repository.prune(tx, notebookConfId);
    return revisionId;
  }

  private async insert(
    tx: Tx,
    { tenantId, userId, notebookConfId }: { tenantId: string; userId: number; notebookConfId: number },
    { text }: StagedDocument,
  ): Promise<number> {
    await this.contents.keep(tx, tenantId, text);
    return this.repository.insertRevision(tx, {
      tenant_id: tenantId,
      job_conf_id: notebookConfId,
      created_by_user_id: userId,
      sha256: text.sha256,
      size_bytes: text.bytes,
      document: text.inline,
    });
  }
}

function ipynbFile(
  name: string,
  document: NotebookDocument,
  outputsOf: (cell: { id: string }) => WrittenOutputs | Promise<WrittenOutputs>,
): FileContent {
  return {
    kind: 'file',
    name: `${name}.ipynb`,
    stream: Readable.from(ipynbText(document, outputsOf), { objectMode: false }),
    sizeBytes: null,
    asError: (error) => error,
  };
}
