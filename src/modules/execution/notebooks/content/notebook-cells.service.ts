import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { readCells, type SentCell, shownCell, withCells } from '../../../../../libs/notebooks/cells';
import { ipynbText, type NotebookDocument, NotebookError } from '../../../../../libs/notebooks/ipynb';
import { fromShown, type NbOutput, shown, type ShownOutput } from '../../../../../libs/notebooks/outputs';
import type { WorkspaceContext, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { includesPermission } from '../../../../platform/kernel/auth/roles';
import { conflict, forbidden, invalid } from '../../../../platform/kernel/errors/domain-error';
import { type Message, openEnded } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { NOTEBOOK, type RunConfigurationRow, RunConfigurationsService } from '../../runs';
import { WorkspaceFilesService, WorkspacesService } from '../../workspaces';
import { type CurrentNotebook, NotebookDocumentsRepository } from './notebook-documents.repository';
import { NotebookDocumentsService } from './notebook-documents.service';
import { type CellRow, NotebookOutputsRepository } from './notebook-outputs.repository';
import { NotebookOutputsService, type StagedOutputs } from './notebook-outputs.service';
import { outputsText } from './notebook-staging.service';

/** How often a change begins anew because another one came first. */
const ATTEMPTS = 3;

/** Somebody else made another revision meanwhile. */
class OtherRevision extends Error {}

/** What a client's cells change. */
interface Change {
  current: CurrentNotebook;
  document: NotebookDocument;
  /** Whether it is another one than before. */
  isOther: boolean;
  cells: ReadonlyMap<string, CellRow>;
  outputs: StagedOutputs[];
}

/** The cells of notebooks as the API shows them, and as clients send them back. */
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

  /** Cells as JSON with commas between; few outputs are in memory at once. */
  async *written(notebookConfId: number): AsyncGenerator<string> {
    const current = await this.documents.current(notebookConfId);
    const document = await this.documents.read(current);
    const rows = await this.outputs.rows(notebookConfId);
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
   * Takes over the cells that a client sends. Outputs of cells that an unfinished instance has executed are the server's
   * and stay: the client may not have seen the last of them.
   */
  async update(scope: WorkspaceScope, notebookConfId: number, cells: readonly unknown[]): Promise<Message> {
    if (await this.transactions.isRepeated()) return this.transactions.repeat();
    const row = await this.confs.get({ ...scope, kind: NOTEBOOK }, { id: notebookConfId });
    const sent = refusing(() => readCells(cells));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const change = await this.changeOf(scope.tenantId, notebookConfId, sent);
      if (change.isOther) assertMayEdit(scope.workspace, row);
      if (!change.isOther && change.outputs.length === 0) return saved(row, 'has not changed');
      try {
        return await this.apply(scope, row, change);
      } catch (error) {
        if (!(error instanceof OtherRevision)) throw error;
      }
    }
    throw conflict('NOTEBOOK_CONF.BUSY', `The notebook "${row.name}" is being changed by others. Try again.`);
  }

  private async changeOf(tenantId: string, notebookConfId: number, sent: readonly SentCell[]): Promise<Change> {
    const current = await this.documents.current(notebookConfId);
    const before = await this.documents.read(current);
    const document = withCells(before, sent);
    const cells = await this.outputs.rows(notebookConfId);
    const outputs: StagedOutputs[] = [];
    for (const { cell_uuid: id, cell_type, output } of sent) {
      if (cell_type !== 'code') continue;
      const staged = await this.changedOutputs(tenantId, notebookConfId, id, cells.get(id), output);
      if (staged) outputs.push(staged);
    }
    return { current, document, isOther: !isDeepStrictEqual(before.cells, document.cells), cells, outputs };
  }

  /** Null if they stay as they are. */
  private async changedOutputs(
    tenantId: string,
    notebookConfId: number,
    id: string,
    cell: CellRow | undefined,
    given: readonly ShownOutput[],
  ): Promise<StagedOutputs | null> {
    if (cell?.is_running || (!cell && given.length === 0)) return null;
    if (cell && (await this.outputs.isShown(tenantId, notebookConfId, cell, given))) return null;
    const before = cell ? await this.outputs.read(tenantId, notebookConfId, cell) : [];
    const outputs = given.map((one, index) => outputOf(one, before[index], id, index));
    return this.outputs.stage(tenantId, id, outputs, given.length > 0 ? (cell?.execution_count ?? null) : null);
  }

  /** Throws {@link OtherRevision} if the notebook is another one by now. */
  private async apply(scope: WorkspaceScope, row: RunConfigurationRow, change: Change): Promise<Message> {
    const { tenantId } = scope;
    const { job_conf_id: notebookConfId } = row;
    if (change.isOther) return this.applyDocument(scope, row, change);
    return this.transactions.run(async (tx) => {
      await this.workspaces.lockActive(tx, scope.workspace.workspaceId);
      await this.lock(tx, change.current);
      await this.outputs.replace(tx, tenantId, notebookConfId, change.outputs);
      return saved(row, 'is saved');
    });
  }

  private async applyDocument(scope: WorkspaceScope, row: RunConfigurationRow, change: Change): Promise<Message> {
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
        await this.documents.change(tx, { tenantId, userId, notebookConfId }, staged);
        await this.outputs.replace(tx, tenantId, notebookConfId, change.outputs);
        const path = (await this.repository.paths([notebookConfId], tx)).get(notebookConfId) ?? '';
        const placed = await this.files.place(tx, scope, path, blob);
        await this.confs.recordChange(tx, { ...scope, kind: NOTEBOOK }, notebookConfId);
        unused = placed.unused;
        return saved(row, 'is saved');
      });
    } finally {
      await this.files.discard(unused ?? [blob.key]);
    }
  }

  private async lock(tx: Tx, { job_conf_id, notebook_revision_id }: CurrentNotebook): Promise<void> {
    await this.outputsRepository.lock(tx, job_conf_id);
    const now = await this.repository.current(job_conf_id, tx);
    if (now?.notebook_revision_id !== notebook_revision_id) throw new OtherRevision();
  }

  private fileText(tenantId: string, notebookConfId: number, { document, cells, outputs }: Change): Readable {
    const changed = new Map(outputs.map((staged) => [staged.outputs.cell_uuid, staged]));
    const others = document.cells.flatMap(({ id }) => (changed.has(id) ? [] : (cells.get(id) ?? [])));
    const reader = this.outputs.reader(tenantId, notebookConfId, others);
    const text = ipynbText(document, ({ id }) => {
      const staged = changed.get(id);
      if (!staged) return reader.written(id);
      return outputsText({ outputs: [...staged.given], executionCount: staged.outputs.execution_count });
    });
    return Readable.from(text, { objectMode: false });
  }
}

/** What a client shows is the output that it was made of, if it still is. */
function outputOf(given: ShownOutput, before: NbOutput | undefined, cellUuid: string, index: number): NbOutput {
  if (before) {
    const { type, Celloutput: content } = shown(before);
    if (type === given.type && content === given.Celloutput) return before;
  }
  return sentOutput(given, cellUuid, index);
}

/** An output that a client sends; throws a 400 for an image that is none. */
export function sentOutput(given: ShownOutput, cellUuid: string, index: number): NbOutput {
  const output = fromShown(given);
  if (output) return output;
  throw invalid(
    'NOTEBOOK_CONF.INVALID_CELLS',
    `The output ${index + 1} of the cell "${cellUuid}" is no image: a data URL of PNG, JPEG, GIF, WebP or SVG is.`,
  );
}

function assertMayEdit({ permission }: WorkspaceContext, row: RunConfigurationRow): void {
  if (permission === undefined || !includesPermission(permission, 'EDIT')) {
    throw forbidden(
      'WORKSPACE.PERMISSION_REQUIRED',
      'Only the outputs of cells may be changed with RUN on the workspace; their code, order, number and metadata need EDIT.',
      { needed: 'EDIT', held: permission ?? null },
    );
  }
  if (openEnded(row.to_date) !== null) {
    throw conflict('NOTEBOOK_CONF.DISABLED', `The notebook configuration "${row.name}" is disabled. Enable it first.`);
  }
}

function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotebookError) throw invalid('NOTEBOOK_CONF.INVALID_CELLS', error.message);
    throw error;
  }
}

function saved(row: RunConfigurationRow, what: string): Message {
  return { message: `The notebook "${row.name}" (id ${row.job_conf_id}) ${what}.` };
}
