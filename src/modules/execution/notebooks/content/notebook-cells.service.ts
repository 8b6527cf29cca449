import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { readCells, type SentCell, shownCell, withCells } from '../../../../../libs/notebooks/cells';
import { ipynbText, type NotebookDocument, NotebookError } from '../../../../../libs/notebooks/ipynb';
import { fromShown, type NbOutput, shown, type ShownOutput } from '../../../../../libs/notebooks/outputs';
import type { WorkspaceContext, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { includesPermission } from '../../../../platform/kernel/auth/roles';
import { conflict, forbidden, invalid } from '../../../../platform/kernel/errors/domain-error';
import { openEnded } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { NOTEBOOK, type RunConfigurationRow, RunConfigurationsService } from '../../runs';
import { WorkspaceFilesService, WorkspacesService } from '../../workspaces';
import type { NotebookCellsWritten } from './dto/notebook-conf.dto';
import { type CurrentNotebook, NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService } from './notebook-documents.service';
import { type CellRow, NotebookOutputsRepository } from './notebook-outputs.repository';
import { NotebookOutputsService, type StagedOutputs } from './notebook-outputs.service';
import { outputsText } from './notebook-staging.service';

/** A change starts over if another one was committed first. */
const MAX_ATTEMPTS = 3;

/** Thrown if another change made a new revision meanwhile. */
class RevisionChanged extends Error {}

/** The changes that a client's cells make. */
interface Change {
  current: CurrentNotebook;
  document: NotebookDocument;
  /** True if the document differs from the current revision. */
  isNewRevision: boolean;
  cells: ReadonlyMap<string, CellRow>;
  outputs: StagedOutputs[];
}

/** Reads and writes the cells of notebooks in the form of the API. */
@Injectable()
export class NotebookCellsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly confs: RunConfigurationsService,
    private readonly workspaces: WorkspacesService,
    private readonly files: WorkspaceFilesService,
    private readonly documents: NotebookDocumentsService,
    private readonly repository: NotebookDocumentsRepository,
    private readonly outputs: NotebookOutputsService,
    private readonly outputsRepository: NotebookOutputsRepository,
  ) {}

  /** Yields the cells as comma-separated JSON, so that only few outputs are in memory at a time. */
  async *jsonParts(current: CurrentNotebook, withOutputs: boolean): AsyncGenerator<string> {
    const { job_conf_id: notebookConfId } = current;
    const document = await this.documents.read(current);
    const rows = withOutputs ? await this.outputs.rows(notebookConfId) : new Map<string, CellRow>();
    const reader = this.outputs.reader(
      current.tenant_id,
      notebookConfId,
      document.cells.flatMap(({ id }) => rows.get(id) ?? []),
    );
    for (const [index, cell] of document.cells.entries()) {
      yield `${index === 0 ? '' : ','}\n${JSON.stringify(shownCell(cell, await reader.shown(cell.id)))}`;
    }
  }

  /**
   * Stores the cells that a client sends. Outputs of cells that an unfinished instance has executed are kept, because the client
   * may not have received the last of them.
   * @param revisionId the revision that the client has changed; another one is refused with 409, and cells without outputs keep theirs
   */
  async update(
    scope: WorkspaceScope,
    notebookConfId: number,
    cells: readonly unknown[],
    revisionId: number | undefined,
  ): Promise<NotebookCellsWritten> {
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    const row = await this.confs.get({ ...scope, kind: NOTEBOOK }, { id: notebookConfId });
    const sent = asInvalid(() => readCells(cells));
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const change = await this.changeOf(scope.tenantId, notebookConfId, sent, revisionId !== undefined);
      const { notebook_revision_id: current } = change.current;
      if (change.isNewRevision) assertMayEdit(scope.workspace, row);
      if (change.isNewRevision && revisionId !== undefined && revisionId !== current) throw changed(row, current);
      if (!change.isNewRevision && change.outputs.length === 0) return written(row, 'has not changed', current);
      try {
        return await this.apply(scope, row, change);
      } catch (error) {
        if (!(error instanceof RevisionChanged)) throw error;
      }
    }
    throw conflict('NOTEBOOK_CONF.BUSY', `The notebook "${row.name}" is being changed by other requests. Try again.`);
  }

  private async changeOf(
    tenantId: string,
    notebookConfId: number,
    sent: readonly SentCell[],
    keepsAbsent: boolean,
  ): Promise<Change> {
    const current = await this.documents.current(notebookConfId);
    const before = await this.documents.read(current);
    const document = withCells(before, sent);
    const cells = await this.outputs.rows(notebookConfId);
    const outputs: StagedOutputs[] = [];
    for (const { cell_uuid: id, cell_type, output } of sent) {
      if (cell_type !== 'code' || (output === undefined && keepsAbsent)) continue;
      const staged = await this.changedOutputs(tenantId, notebookConfId, id, cells.get(id), output ?? []);
      if (staged) outputs.push(staged);
    }
    return { current, document, isNewRevision: !isDeepStrictEqual(before.cells, document.cells), cells, outputs };
  }

  /** Returns null if the outputs are unchanged. */
  private async changedOutputs(
    tenantId: string,
    notebookConfId: number,
    id: string,
    cell: CellRow | undefined,
    sent: readonly ShownOutput[],
  ): Promise<StagedOutputs | null> {
    if (cell?.is_running || (!cell && sent.length === 0)) return null;
    if (cell && (await this.outputs.isShown(tenantId, notebookConfId, cell, sent))) return null;
    const before = cell ? await this.outputs.read(tenantId, notebookConfId, cell) : [];
    const outputs = sent.map((one, index) => outputOf(one, before[index], id, index));
    return this.outputs.stage(tenantId, id, outputs, sent.length > 0 ? (cell?.execution_count ?? null) : null);
  }

  /** Throws {@link RevisionChanged} if the notebook was changed meanwhile. */
  private async apply(scope: WorkspaceScope, row: RunConfigurationRow, change: Change): Promise<NotebookCellsWritten> {
    const { tenantId } = scope;
    const { job_conf_id: notebookConfId } = row;
    if (change.isNewRevision) return this.applyDocument(scope, row, change);
    return this.transactions.run(async (tx) => {
      await this.workspaces.lockActive(tx, scope.workspace.workspaceId);
      await this.lock(tx, change.current);
      await this.outputs.replace(tx, tenantId, notebookConfId, change.outputs);
      return written(row, 'is saved', change.current.notebook_revision_id);
    });
  }

  private async applyDocument(
    scope: WorkspaceScope,
    row: RunConfigurationRow,
    change: Change,
  ): Promise<NotebookCellsWritten> {
    const { tenantId, userId } = scope;
    const { job_conf_id: notebookConfId } = row;
    const staged = await this.documents.stage(tenantId, change.document);
    const blob = await this.files.stage(this.fileText(tenantId, notebookConfId, change));
    let unused: string[] | null = null;
    try {
      return await this.transactions.run(async (tx) => {
        unused = null;
        await this.files.lock(tx, scope.workspace);
        await this.lock(tx, change.current);
        const revisionId = await this.documents.change(tx, { tenantId, userId, notebookConfId }, staged);
        await this.outputs.replace(tx, tenantId, notebookConfId, change.outputs);
        const path = (await this.repository.paths([notebookConfId], tx)).get(notebookConfId) ?? '';
        const placed = await this.files.place(tx, scope, path, blob);
        await this.confs.recordChange(tx, { ...scope, kind: NOTEBOOK }, notebookConfId);
        unused = placed.unused;
        return written(row, 'is saved', revisionId);
      });
    } finally {
      await this.files.discard(unused ?? [blob.key]);
    }
  }

  private async lock(tx: Tx, { job_conf_id, notebook_revision_id }: CurrentNotebook): Promise<void> {
    await this.outputsRepository.lock(tx, job_conf_id);
    const now = await this.repository.current(job_conf_id, tx);
    if (now?.notebook_revision_id !== notebook_revision_id) throw new RevisionChanged();
  }

  private fileText(tenantId: string, notebookConfId: number, { document, cells, outputs }: Change): Readable {
    const changed = new Map(outputs.map((staged) => [staged.outputs.cell_uuid, staged]));
    const others = document.cells.flatMap(({ id }) => (changed.has(id) ? [] : (cells.get(id) ?? [])));
    const reader = this.outputs.reader(tenantId, notebookConfId, others);
    const text = ipynbText(document, ({ id }) => {
      const staged = changed.get(id);
      if (!staged) return reader.written(id);
      return outputsText({ outputs: [...staged.sent], executionCount: staged.outputs.execution_count });
    });
    return Readable.from(text, { objectMode: false });
  }
}

/** Returns the stored output if the client sent it back unchanged, because the API shows less than is stored. */
function outputOf(sent: ShownOutput, before: NbOutput | undefined, cellUuid: string, index: number): NbOutput {
  if (before) {
    const { type, Celloutput: content } = shown(before);
    if (type === sent.type && content === sent.Celloutput) return before;
  }
  return sentOutput(sent, cellUuid, index);
}

/** Converts an output that a client sends; throws a 400 for an invalid image. */
export function sentOutput(sent: ShownOutput, cellUuid: string, index: number): NbOutput {
  const output = fromShown(sent);
  if (output) return output;
  throw invalid(
    'NOTEBOOK_CONF.INVALID_CELLS',
    `Output ${index + 1} of the cell "${cellUuid}" is not a valid image. Send a data URL of a PNG, JPEG, GIF, WebP or SVG image.`,
  );
}

function assertMayEdit({ permission }: WorkspaceContext, row: RunConfigurationRow): void {
  if (permission === undefined || !includesPermission(permission, 'EDIT')) {
    throw forbidden(
      'WORKSPACE.PERMISSION_REQUIRED',
      'RUN on the workspace allows changing only the outputs of cells. Changing their code, order, number or metadata requires EDIT.',
      { needed: 'EDIT', held: permission ?? null },
    );
  }
  if (openEnded(row.to_date) !== null) {
    throw conflict('NOTEBOOK_CONF.DISABLED', `The notebook configuration "${row.name}" is disabled. Enable it first.`);
  }
}

function asInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotebookError) throw invalid('NOTEBOOK_CONF.INVALID_CELLS', error.message);
    throw error;
  }
}

function changed(row: RunConfigurationRow, revisionId: number): Error {
  return conflict(
    'NOTEBOOK_CONF.CHANGED',
    `Somebody has changed the cells of the notebook "${row.name}" since then. Read it again, and merge your change.`,
    { revision_id: revisionId, modified_by: row.modified_by_name },
  );
}

function written(row: RunConfigurationRow, result: string, revisionId: number): NotebookCellsWritten {
  return { message: `The notebook "${row.name}" (id ${row.job_conf_id}) ${result}.`, revision_id: revisionId };
}
