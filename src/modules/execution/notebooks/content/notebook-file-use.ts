import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { FileUse, type ApplyUpload, type UploadedContent, type WorkspaceFileRow } from '../../workspaces';
import { NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService } from './notebook-documents.service';
import { NotebookOutputsRepository } from './notebook-outputs.repository';
import { NotebookOutputsService, type StagedOutputs } from './notebook-outputs.service';
import { NotebookReader } from './notebook-reader.service';
import { ENDING } from './notebook-staging.service';

/** Applies changes of files to the notebooks that they belong to. */
@Injectable()
export class NotebookFileUse extends FileUse {
  constructor(
    private readonly repository: NotebookDocumentsRepository,
    private readonly documents: NotebookDocumentsService,
    private readonly outputsRepository: NotebookOutputsRepository,
    private readonly outputs: NotebookOutputsService,
    private readonly reader: NotebookReader,
  ) {
    super();
  }

  /** An upload creates a revision. Outputs of cells of unfinished instances are kept. */
  async read(
    { tenantId, userId }: TenantScope,
    file: WorkspaceFileRow,
    content: UploadedContent,
  ): Promise<ApplyUpload | null> {
    const current = await this.repository.ofFile(file.workspace_file_id);
    if (!current) return null;
    const { job_conf_id: notebookConfId } = current;
    const { document, outputs: uploaded } = await this.reader.read(tenantId, file.path, content);
    const staged = await this.documents.stage(tenantId, document);
    const cells = await this.outputs.rows(notebookConfId);
    const outputs: StagedOutputs[] = [];
    for (const { id, cell_type } of document.cells) {
      const cell = cells.get(id);
      const after = uploaded.get(id);
      if (cell_type !== 'code' || cell?.is_running || (!after && (cell?.outputs ?? 0) === 0)) continue;
      outputs.push(await this.outputs.stage(tenantId, id, after?.outputs ?? [], after?.executionCount ?? null));
    }
    return async (tx) => {
      if (!(await this.outputsRepository.lock(tx, notebookConfId))) return;
      await this.documents.change(tx, { tenantId, userId, notebookConfId }, staged);
      await this.outputs.replace(tx, tenantId, notebookConfId, outputs);
    };
  }

  async assertUnused(tx: Tx, file: WorkspaceFileRow): Promise<void> {
    const used = await this.repository.below(tx, file);
    if (!used) return;
    throw conflict(
      'FILE.IS_NOTEBOOK',
      `"${used.path}" is the notebook of the configuration "${used.name}". Delete that configuration first.`,
      { notebook_conf_id: used.job_conf_id },
    );
  }

  async assertMayMove(tx: Tx, file: WorkspaceFileRow, path: string): Promise<void> {
    if (file.is_dir || path.endsWith(ENDING)) return;
    if (!(await this.repository.ofFile(file.workspace_file_id, tx))) return;
    throw conflict('FILE.IS_NOTEBOOK', `"${file.path}" is the file of a notebook, so its name must end in ${ENDING}.`);
  }
}
