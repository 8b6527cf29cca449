import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, prepared, returning, rows, type Db, type Tx } from '../../../../platform/kernel/persistence/sql';
import type { NotebookCell } from './entities/notebook-cell.entity';
import type { NotebookDocumentRow } from './entities/notebook-document.entity';
import type { NotebookOutputPiece } from './entities/notebook-output.entity';
import type { NotebookRevision } from './entities/notebook-revision.entity';

/** A piece of a stream is extended up to this size. */
export const MAX_PIECE_BYTES = 64 * 1024;

/** A notebook that is locked until the transaction ends. */
export type LockedNotebook = Pick<NotebookDocumentRow, 'job_conf_id' | 'tenant_id' | 'output_bytes'> &
  Pick<NotebookRevision, 'size_bytes'>;

export type CellRow = Pick<
  NotebookCell,
  'cell_uuid' | 'cell_type' | 'run_id' | 'execution_count' | 'bytes' | 'shown_sha256' | 'outputs' | 'pieces'
> & {
  /** True if the run `run_id` has not ended. */
  is_running: boolean;
};

export type PieceRow = Pick<NotebookOutputPiece, 'cell_uuid' | 'output' | 'stream' | 'bytes' | 'content' | 'sha256'>;
export type NewPiece = Omit<PieceRow, 'cell_uuid'>;

/** An output of a cell with the size of all its pieces. */
export type KeptOutput = Pick<PieceRow, 'output' | 'bytes'>;

/** Outputs that replace those of a cell. */
export interface NewOutputs {
  cell_uuid: string;
  execution_count: number | null;
  outputs: number;
  bytes: number;
  open_stream: string | null;
  shown_sha256: string;
  pieces: readonly NewPiece[];
}

const PIECE_COLUMNS = 'cell_uuid, output, stream, bytes, content, sha256';

@Injectable()
export class NotebookOutputsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Must be the first step of every change of a notebook or its outputs. Returns null if there is no such notebook. */
  async lock(tx: Tx, notebookConfId: number): Promise<LockedNotebook | null> {
    // A separate statement: one that waits for a lock does not see the revision that was committed meanwhile, and finds no row.
    const locked = await rows(
      tx,
      prepared('SELECT 1 FROM notebook_documents WHERE job_conf_id = $1 FOR NO KEY UPDATE'),
      [notebookConfId],
    );
    if (locked.length === 0) return null;
    return firstRow<LockedNotebook>(
      tx,
      prepared(
        `SELECT d.job_conf_id, d.tenant_id, d.output_bytes, r.size_bytes FROM notebook_documents d
         JOIN notebook_revisions r ON r.notebook_revision_id = d.notebook_revision_id WHERE d.job_conf_id = $1`,
      ),
      [notebookConfId],
    );
  }

  async cell(
    tx: Tx,
    notebookConfId: number,
    cellUuid: string,
  ): Promise<Pick<
    NotebookCell,
    'cell_type' | 'run_id' | 'outputs' | 'pieces' | 'bytes' | 'open_stream' | 'is_cut' | 'clears_next'
  > | null> {
    return firstRow(
      tx,
      prepared(
        `SELECT cell_type, run_id, outputs, pieces, bytes, open_stream, is_cut, clears_next FROM notebook_cells
         WHERE job_conf_id = $1 AND cell_uuid = $2`,
      ),
      [notebookConfId, cellUuid],
    );
  }

  /** Returns those of the cells that the notebook has. */
  async typesOf(
    tx: Tx,
    notebookConfId: number,
    cellUuids: readonly string[],
  ): Promise<Pick<NotebookCell, 'cell_uuid' | 'cell_type'>[]> {
    return rows(
      tx,
      prepared('SELECT cell_uuid, cell_type FROM notebook_cells WHERE job_conf_id = $1 AND cell_uuid = ANY($2)'),
      [notebookConfId, cellUuids],
    );
  }

  /** Removes the outputs of a cell and records the run that executes it from now on. */
  async startExecution(tx: Tx, notebookConfId: number, cellUuid: string, runId: number): Promise<boolean> {
    if (!(await this.clear(tx, notebookConfId, cellUuid))) return false;
    await tx.query(
      prepared(
        'UPDATE notebook_cells SET run_id = $3, execution_count = NULL WHERE job_conf_id = $1 AND cell_uuid = $2',
      ),
      [notebookConfId, cellUuid, runId],
    );
    return true;
  }

  /** Removes the outputs of a cell; false if there is no such code cell. */
  async clear(tx: Tx, notebookConfId: number, cellUuid: string): Promise<boolean> {
    const cleared = await returning(
      tx,
      prepared(
        `WITH cell AS (
           SELECT bytes FROM notebook_cells WHERE job_conf_id = $1 AND cell_uuid = $2 AND cell_type = 'code'),
         gone AS (
           DELETE FROM notebook_outputs o USING cell WHERE o.job_conf_id = $1 AND o.cell_uuid = $2),
         cleared AS (
           UPDATE notebook_cells c SET outputs = 0, pieces = 0, bytes = 0, open_stream = NULL, is_cut = FALSE,
             clears_next = FALSE, shown_sha256 = NULL, written_at = platform_now()
           FROM cell WHERE c.job_conf_id = $1 AND c.cell_uuid = $2)
         UPDATE notebook_documents d SET output_bytes = d.output_bytes - cell.bytes
         FROM cell WHERE d.job_conf_id = $1 RETURNING d.job_conf_id`,
      ),
      [notebookConfId, cellUuid],
    );
    return cleared.length > 0;
  }

  /** Marks a cell so that its outputs are removed when the next one arrives. */
  async clearLater(tx: Tx, notebookConfId: number, cellUuid: string): Promise<boolean> {
    const marked = await returning(
      tx,
      prepared(
        'UPDATE notebook_cells SET clears_next = TRUE WHERE job_conf_id = $1 AND cell_uuid = $2 RETURNING cell_uuid',
      ),
      [notebookConfId, cellUuid],
    );
    return marked.length > 0;
  }

  async kept(
    tx: Tx,
    { job_conf_id, cell_uuid }: Pick<NotebookCell, 'job_conf_id' | 'cell_uuid'>,
  ): Promise<KeptOutput[]> {
    return rows(
      tx,
      prepared(
        `SELECT output, sum(bytes)::bigint AS bytes FROM notebook_outputs WHERE job_conf_id = $1 AND cell_uuid = $2
         GROUP BY output ORDER BY output`,
      ),
      [job_conf_id, cell_uuid],
    );
  }

  /** Removes the outputs of a cell in a half-open range. */
  async remove(
    tx: Tx,
    { job_conf_id, cell_uuid }: Pick<NotebookCell, 'job_conf_id' | 'cell_uuid'>,
    { from, to }: { from: number; to: number },
  ): Promise<void> {
    await tx.query(
      prepared(
        `DELETE FROM notebook_outputs
         WHERE job_conf_id = $1 AND cell_uuid = $2 AND output >= $3 AND output < $4`,
      ),
      [job_conf_id, cell_uuid, from, to],
    );
  }

  /** Appends to the last piece of a stream; returns false if the piece would become too large. */
  async extend(
    tx: Tx,
    { job_conf_id, cell_uuid, number }: Pick<NotebookOutputPiece, 'job_conf_id' | 'cell_uuid' | 'number'>,
    content: string,
    bytes: number,
  ): Promise<boolean> {
    const extended = await returning(
      tx,
      prepared(
        `UPDATE notebook_outputs SET content = content || $4, bytes = bytes + $5
         WHERE job_conf_id = $1 AND cell_uuid = $2 AND number = $3 AND bytes + $5 <= ${MAX_PIECE_BYTES} RETURNING number`,
      ),
      [job_conf_id, cell_uuid, number, content, bytes],
    );
    return extended.length > 0;
  }

  async insert(tx: Tx, piece: NotebookOutputPiece): Promise<void> {
    await tx.query(
      prepared(
        `INSERT INTO notebook_outputs (job_conf_id, cell_uuid, number, output, stream, bytes, content, sha256)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      ),
      [
        piece.job_conf_id,
        piece.cell_uuid,
        piece.number,
        piece.output,
        piece.stream,
        piece.bytes,
        piece.content,
        piece.sha256,
      ],
    );
  }

  /** Records what was added to a cell or removed from it. */
  async updateTotals(
    tx: Tx,
    { job_conf_id, cell_uuid }: Pick<NotebookCell, 'job_conf_id' | 'cell_uuid'>,
    cell: Pick<NotebookCell, 'outputs' | 'pieces' | 'open_stream' | 'is_cut'>,
    bytes: number,
  ): Promise<void> {
    await tx.query(
      prepared(
        `WITH cell AS (
           UPDATE notebook_cells SET outputs = $3, pieces = $4, open_stream = $5, is_cut = $6, bytes = bytes + $7,
             shown_sha256 = NULL, written_at = platform_now()
           WHERE job_conf_id = $1 AND cell_uuid = $2)
         UPDATE notebook_documents SET output_bytes = output_bytes + $7 WHERE job_conf_id = $1`,
      ),
      [job_conf_id, cell_uuid, cell.outputs, cell.pieces, cell.open_stream, cell.is_cut, bytes],
    );
  }

  async setExecutionCount(
    tx: Tx,
    notebookConfId: number,
    cellUuid: string,
    runId: number,
    count: number | null,
  ): Promise<boolean> {
    const counted = await returning(
      tx,
      prepared(
        `UPDATE notebook_cells SET execution_count = $4
         WHERE job_conf_id = $1 AND cell_uuid = $2 AND run_id = $3 RETURNING cell_uuid`,
      ),
      [notebookConfId, cellUuid, runId, count],
    );
    return counted.length > 0;
  }

  async cells(notebookConfId: number, db: Db = this.dataSource.manager): Promise<CellRow[]> {
    return rows<CellRow>(
      db,
      `SELECT c.cell_uuid, c.cell_type, c.run_id, c.execution_count, c.bytes, c.shown_sha256, c.outputs, c.pieces,
         r.run_id IS NOT NULL AS is_running
       FROM notebook_cells c LEFT JOIN runs r ON r.run_id = c.run_id AND r.ended_at IS NULL
       WHERE c.job_conf_id = $1`,
      [notebookConfId],
    );
  }

  /** Returns the pieces of the cells' outputs, ordered within each cell. */
  async pieces(
    notebookConfId: number,
    cellUuids: readonly string[],
    db: Db = this.dataSource.manager,
  ): Promise<PieceRow[]> {
    if (cellUuids.length === 0) return [];
    return rows<PieceRow>(
      db,
      `SELECT ${PIECE_COLUMNS} FROM notebook_outputs WHERE job_conf_id = $1 AND cell_uuid = ANY($2)
       ORDER BY cell_uuid, number`,
      [notebookConfId, cellUuids],
    );
  }

  /** Stores the hash of the shown outputs after a comparison, unless they have changed meanwhile. */
  async setShownHash(
    notebookConfId: number,
    { cell_uuid, bytes, pieces, outputs }: CellRow,
    sha256: string,
  ): Promise<void> {
    await this.dataSource.manager.query(
      `UPDATE notebook_cells SET shown_sha256 = $5
       WHERE job_conf_id = $1 AND cell_uuid = $2 AND bytes = $3 AND pieces = $4 AND outputs = $6
         AND shown_sha256 IS NULL`,
      [notebookConfId, cell_uuid, bytes, pieces, sha256, outputs],
    );
  }

  /** Replaces the outputs of cells, except of those that an unfinished run has executed. */
  async replace(tx: Tx, notebookConfId: number, replacements: readonly NewOutputs[]): Promise<void> {
    for (const { pieces, ...cell } of replacements) {
      const free = await returning(
        tx,
        `WITH cell AS (
           SELECT c.bytes FROM notebook_cells c
           WHERE c.job_conf_id = $1 AND c.cell_uuid = $2 AND c.cell_type = 'code' AND NOT EXISTS (
             SELECT 1 FROM runs r WHERE r.run_id = c.run_id AND r.ended_at IS NULL)),
         gone AS (
           DELETE FROM notebook_outputs o USING cell WHERE o.job_conf_id = $1 AND o.cell_uuid = $2),
         changed AS (
           UPDATE notebook_cells c SET outputs = $3, pieces = $4, bytes = $5, open_stream = $6, is_cut = FALSE,
             clears_next = FALSE, shown_sha256 = $7, execution_count = $8,
             run_id = NULL, written_at = platform_now()
           FROM cell WHERE c.job_conf_id = $1 AND c.cell_uuid = $2)
         UPDATE notebook_documents d SET output_bytes = d.output_bytes - cell.bytes + $5
         FROM cell WHERE d.job_conf_id = $1 RETURNING d.job_conf_id`,
        [
          notebookConfId,
          cell.cell_uuid,
          cell.outputs,
          pieces.length,
          cell.bytes,
          cell.open_stream,
          cell.shown_sha256,
          cell.execution_count,
        ],
      );
      if (free.length === 0 || pieces.length === 0) continue;
      await tx.query(
        `INSERT INTO notebook_outputs (job_conf_id, cell_uuid, number, output, stream, bytes, content, sha256)
         SELECT $1, $2, number - 1, output, stream, bytes, content, sha256
         FROM unnest($3::integer[], $4::text[], $5::bigint[], $6::text[], $7::text[])
           WITH ORDINALITY AS given (output, stream, bytes, content, sha256, number)`,
        [
          notebookConfId,
          cell.cell_uuid,
          pieces.map(({ output }) => output),
          pieces.map(({ stream }) => stream),
          pieces.map(({ bytes }) => bytes),
          pieces.map(({ content }) => content),
          pieces.map(({ sha256 }) => sha256),
        ],
      );
    }
  }
}
