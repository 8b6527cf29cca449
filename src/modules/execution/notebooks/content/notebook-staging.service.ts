import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { exactJson } from '../../../../../libs/json/exact-json';
import type { StoredBlob } from '../../../../../libs/object-storage/blob-store';
import {
  type CellOutputs,
  ipynbText,
  NO_OUTPUTS,
  type NotebookDocument,
  type WrittenOutputs,
} from '../../../../../libs/notebooks/ipynb';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid } from '../../../../platform/kernel/errors/domain-error';
import { normalizePath } from '../../../../platform/kernel/files/file-path';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { type WorkspaceFileRow, WorkspaceFilesService } from '../../workspaces';
import { NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService, type StagedDocument } from './notebook-documents.service';
import { NotebookOutputsRepository } from './notebook-outputs.repository';
import { NotebookOutputsService, type StagedOutputs } from './notebook-outputs.service';

export const ENDING = '.ipynb';

/** A notebook that will be inserted for a configuration. Its large texts are already in the blob store. */
export interface StagedNotebook {
  path: string;
  document: StagedDocument;
  outputs: StagedOutputs[];
  /** The existing file that becomes the notebook; null if a file must be written. */
  adopted: WorkspaceFileRow | null;
  blob: StoredBlob | null;
}

/** Normalizes the path of a notebook's file; throws a 400 if it does not end in `.ipynb`. */
export function notebookPath(text: string): string {
  const path = normalizePath(text);
  if (path.endsWith(ENDING) && path !== ENDING && !path.endsWith(`/${ENDING}`)) return path;
  throw invalid(
    'NOTEBOOK_CONF.INVALID_PATH',
    `The path "${text}" of a notebook must name a file that ends in ${ENDING}.`,
  );
}

/** Returns outputs in memory as comma-separated JSON. */
export function outputsText({ outputs, executionCount }: CellOutputs): WrittenOutputs {
  return { executionCount, outputs: outputs.map((output, index) => (index === 0 ? '' : ',') + exactJson(output)) };
}

/** Creates the notebooks of configurations: writes large texts before the transaction, and rows within it. */
@Injectable()
export class NotebookStagingService {
  constructor(
    private readonly files: WorkspaceFilesService,
    private readonly documents: NotebookDocumentsService,
    private readonly repository: NotebookDocumentsRepository,
    private readonly outputs: NotebookOutputsService,
    private readonly outputsRepository: NotebookOutputsRepository,
  ) {}

  /** @param adopted existing file that becomes the notebook; if absent, a file is written at the path */
  async stage(
    tenantId: string,
    path: string,
    { document, outputs }: { document: NotebookDocument; outputs: ReadonlyMap<string, CellOutputs> },
    adopted: WorkspaceFileRow | null = null,
  ): Promise<StagedNotebook> {
    const staged: StagedOutputs[] = [];
    for (const [id, cell] of outputs) {
      staged.push(await this.outputs.stage(tenantId, id, cell.outputs, cell.executionCount));
    }
    const text = ipynbText(document, ({ id }) => {
      const cell = outputs.get(id);
      return cell ? outputsText(cell) : NO_OUTPUTS;
    });
    return {
      path,
      document: await this.documents.stage(tenantId, document),
      outputs: staged,
      adopted,
      blob: adopted ? null : await this.files.stage(Readable.from(text, { objectMode: false })),
    };
  }

  /**
   * Inserts the notebook of a new configuration, in a transaction that has locked the files of the workspace. Returns the keys of
   * blobs to discard after the commit.
   * @param overwrite true if the file may replace another one
   */
  async commit(
    tx: Tx,
    scope: WorkspaceScope,
    notebookConfId: number,
    staged: StagedNotebook,
    overwrite = false,
  ): Promise<string[]> {
    const { file, unused } = await this.fileOf(tx, scope, staged, overwrite);
    const { tenantId, userId } = scope;
    const owner = { tenantId, userId, notebookConfId, fileId: file.workspace_file_id };
    await this.documents.create(tx, owner, staged.document);
    await this.outputs.replace(tx, tenantId, notebookConfId, staged.outputs);
    return unused;
  }

  /** Like {@link commit}, but replaces the notebook that the configuration may have. */
  async replace(tx: Tx, scope: WorkspaceScope, notebookConfId: number, staged: StagedNotebook): Promise<string[]> {
    const current = await this.outputsRepository.lock(tx, notebookConfId);
    if (!current || !staged.blob) return this.commit(tx, scope, notebookConfId, staged, true);
    const { tenantId, userId } = scope;
    const path = (await this.repository.paths([notebookConfId], tx)).get(notebookConfId) ?? '';
    await this.documents.change(tx, { tenantId, userId, notebookConfId }, staged.document);
    const cells = await this.outputs.rows(notebookConfId, tx);
    const replaced = new Set(staged.outputs.map(({ outputs }) => outputs.cell_uuid));
    const cleared = [...cells.values()].filter(({ cell_uuid, outputs, is_running }) => {
      return outputs > 0 && !is_running && !replaced.has(cell_uuid);
    });
    const empty = await Promise.all(cleared.map(({ cell_uuid: id }) => this.outputs.stage(tenantId, id, [], null)));
    await this.outputs.replace(tx, tenantId, notebookConfId, [...staged.outputs, ...empty]);
    return (await this.files.place(tx, scope, path, staged.blob)).unused;
  }

  async discard({ blob }: StagedNotebook): Promise<void> {
    if (blob) await this.files.discard([blob.key]);
  }

  private async fileOf(
    tx: Tx,
    scope: WorkspaceScope,
    { path, adopted, blob }: StagedNotebook,
    overwrite: boolean,
  ): Promise<{ file: WorkspaceFileRow; unused: string[] }> {
    const file = await this.files.at(scope.workspace, path, tx);
    if (file) await this.assertFree(tx, file);
    if (blob && (!file || overwrite)) return this.files.place(tx, scope, path, blob);
    if (file && file.blob_key === adopted?.blob_key) return { file, unused: [] };
    if (file && blob && !overwrite) throw conflict('FILE.EXISTS', `The file "${path}" already exists.`);
    throw conflict('NOTEBOOK_CONF.FILE_CHANGED', `The file "/${path}" was changed by another request. Try again.`);
  }

  private async assertFree(tx: Tx, file: WorkspaceFileRow): Promise<void> {
    if (!(await this.repository.ofFile(file.workspace_file_id, tx))) return;
    throw conflict(
      'NOTEBOOK_CONF.PATH_IN_USE',
      `The file "/${file.path}" is the notebook of another configuration. Choose another path.`,
    );
  }
}
