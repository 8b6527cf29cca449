import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { exactJson } from '../../../../../libs/json/exact-json';
import { parseMarked } from '../../../../../libs/json/opaque-json';
import { markOpaque } from '../../../../../libs/json/strict-json';
import type { CellType, WrittenOutputs } from '../../../../../libs/notebooks/ipynb';
import { MAX_DEPTH } from '../../../../../libs/notebooks/json';
import {
  mergedStreams,
  type NbOutput,
  readOutput,
  shown,
  type ShownOutput,
  type StreamOutput,
} from '../../../../../libs/notebooks/outputs';
import { LARGE_FROM_BYTES } from '../../../../platform/kernel/json/json-thread';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { EventLoopTurns } from '../../../../platform/kernel/process/event-loop-turns';
import { NotebookContentsService, type StagedText } from './notebook-contents.service';
import {
  type CellRow,
  type KeptOutput,
  type LockedNotebook,
  type NewOutputs,
  type NewPiece,
  NotebookOutputsRepository,
  MAX_PIECE_BYTES,
  type PieceRow,
} from './notebook-outputs.repository';

export interface ExecutedCell {
  notebookConfId: number;
  cellUuid: string;
  runId: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Larger outputs are stored in the blob store. */
const MAX_INLINE_BYTES = 256 * KIB;
/** Bounds of the outputs that runs add to one cell. */
const MAX_BYTES = 10 * MIB;
const MAX_OUTPUTS = 100;
/** The first outputs are never dropped. The rest of the room is for the last ones, where the result is. */
const FIRST_OUTPUTS = MAX_OUTPUTS / 2;
const FIRST_BYTES = 2 * MIB;
/** Runs add outputs to a notebook up to this size, which is also the most that a client can send back. */
const MAX_NOTEBOOK_BYTES = 30 * MIB;
/** Most characters take one byte. */
const PIECE_CHARACTERS = MAX_PIECE_BYTES - 4096;
/** Bounds the outputs in memory while a notebook is exported. */
const READ_BYTES = 4 * MIB;

/**
 * Only two levels of an output are parsed, such as its data by media type or the fields of an error. Stored outputs are valid
 * JSON, because they were checked before.
 */
const KEPT_JSON = { values: 500_000, levels: MAX_DEPTH, parsedLevels: 2 };

/** Stands in place of the dropped outputs of a cell. */
const LEFT_OUT: StreamOutput = {
  output_type: 'stream',
  name: 'stderr',
  text: `\n[Outputs are left out here: a cell keeps the first and the last of them, at most ${MAX_OUTPUTS} outputs and ${MAX_BYTES / MIB} MiB, and a notebook with its outputs ${MAX_NOTEBOOK_BYTES / MIB} MiB.]\n`,
};

/** The state of a cell that appending to it needs. */
type OpenCell = NonNullable<Awaited<ReturnType<NotebookOutputsRepository['cell']>>>;

/** Outputs that will replace those of a cell, and the texts of them that are already in the blob store. */
export interface StagedOutputs {
  sent: readonly NbOutput[];
  outputs: NewOutputs;
  texts: readonly StagedText[];
}

/** Stores the outputs of executed cells as they arrive, whether or not a client is connected. */
@Injectable()
export class NotebookOutputsService {
  constructor(
    private readonly repository: NotebookOutputsRepository,
    private readonly contents: NotebookContentsService,
  ) {}

  /**
   * Starts an execution: clears the cell's outputs and accepts those of the run from now on. Returns false, and changes nothing, if
   * the notebook has no such code cell.
   */
  async startExecution(tx: Tx, { notebookConfId, cellUuid, runId }: ExecutedCell): Promise<boolean> {
    if (!(await this.repository.lock(tx, notebookConfId))) return false;
    return this.repository.startExecution(tx, notebookConfId, cellUuid, runId);
  }

  /**
   * Clears the outputs of a cell, or with `waits` when the next output arrives. Returns false if another run has executed the cell
   * meanwhile.
   */
  async clear(tx: Tx, at: ExecutedCell, { waits }: { waits: boolean }): Promise<boolean> {
    if (!(await this.lockCell(tx, at))) return false;
    return waits
      ? this.repository.clearLater(tx, at.notebookConfId, at.cellUuid)
      : this.repository.clear(tx, at.notebookConfId, at.cellUuid);
  }

  /**
   * Appends outputs; consecutive parts of a stream become one output. Beyond 10 MiB or 100 outputs, the first and the last are kept,
   * and a line in stderr stands for the others. The caller has checked that the outputs are valid nbformat (`readOutput`). Returns
   * false if another run has executed the cell meanwhile.
   */
  async append(tx: Tx, at: ExecutedCell, outputs: readonly NbOutput[]): Promise<boolean> {
    const found = await this.lockCell(tx, at);
    if (!found) return false;
    if (found.cell.clears_next && outputs.length > 0) {
      await this.repository.clear(tx, at.notebookConfId, at.cellUuid);
      return this.append(tx, at, outputs);
    }
    const appender = new OutputAppender(this.repository, this.contents, tx, found.notebook, at.cellUuid, found.cell);
    await appender.addAll(mergedStreams(outputs));
    return true;
  }

  /** Sets the execution count of a cell. Returns false if another run has executed the cell meanwhile. */
  setExecutionCount(tx: Tx, at: ExecutedCell, count: number | null): Promise<boolean> {
    return this.repository.setExecutionCount(tx, at.notebookConfId, at.cellUuid, at.runId, count);
  }

  /** Returns the types of those cells that the notebook has, by id. */
  async cellTypes(tx: Tx, notebookConfId: number, cellUuids: readonly string[]): Promise<Map<string, CellType>> {
    const found = await this.repository.typesOf(tx, notebookConfId, cellUuids);
    return new Map(found.map(({ cell_uuid, cell_type }) => [cell_uuid, cell_type]));
  }

  /** Prepares outputs that replace those of a cell. Writes large ones to the blob store. */
  async stage(
    tenantId: string,
    cellUuid: string,
    sent: readonly NbOutput[],
    executionCount: number | null,
  ): Promise<StagedOutputs> {
    const pieces: NewPiece[] = [];
    const texts: StagedText[] = [];
    for (const [index, output] of sent.entries()) {
      if (output.output_type === 'stream') {
        pieces.push(...streamPieces(index, output));
        continue;
      }
      const text = await this.contents.stage(tenantId, exactJson(output), MAX_INLINE_BYTES);
      if (text.inline === null) texts.push(text);
      pieces.push(pieceOf(index, text));
    }
    const last = sent.at(-1);
    return {
      sent,
      texts,
      outputs: {
        cell_uuid: cellUuid,
        execution_count: executionCount,
        outputs: sent.length,
        bytes: pieces.reduce((sum, { bytes }) => sum + bytes, 0),
        open_stream: last?.output_type === 'stream' ? last.name : null,
        shown_sha256: shownHash(sent.map(shown)),
        pieces,
      },
    };
  }

  /** Replaces the outputs of cells, except of those that an unfinished run has executed. */
  async replace(tx: Tx, tenantId: string, notebookConfId: number, staged: readonly StagedOutputs[]): Promise<void> {
    for (const { texts } of staged) for (const text of texts) await this.contents.keep(tx, tenantId, text);
    await this.repository.replace(
      tx,
      notebookConfId,
      staged.map(({ outputs }) => outputs),
    );
  }

  async rows(notebookConfId: number, tx?: Tx): Promise<Map<string, CellRow>> {
    return new Map((await this.repository.cells(notebookConfId, tx)).map((cell) => [cell.cell_uuid, cell]));
  }

  async read(tenantId: string, notebookConfId: number, cell: CellRow): Promise<NbOutput[]> {
    const pieces = await this.repository.pieces(notebookConfId, [cell.cell_uuid]);
    return parsedOutputs(this.contents, tenantId, outputsOf(pieces, cell.outputs));
  }

  /** Returns true if the outputs that a client sends are the stored ones. */
  async isShown(
    tenantId: string,
    notebookConfId: number,
    cell: CellRow,
    sent: readonly ShownOutput[],
  ): Promise<boolean> {
    if (cell.outputs === 0 || sent.length === 0) return cell.outputs === 0 && sent.length === 0;
    let { shown_sha256: hash } = cell;
    if (hash === null) {
      hash = shownHash((await this.read(tenantId, notebookConfId, cell)).map(shown));
      await this.repository.setShownHash(notebookConfId, cell, hash);
    }
    return hash === shownHash(sent);
  }

  /** Returns a reader that keeps only few outputs in memory. They must be read in the order of `cells`. */
  reader(tenantId: string, notebookConfId: number, cells: readonly CellRow[]): OutputsReader {
    return new OutputsReader(this.repository, this.contents, tenantId, notebookConfId, cells);
  }

  private async lockCell(
    tx: Tx,
    { notebookConfId, cellUuid, runId }: ExecutedCell,
  ): Promise<{ notebook: LockedNotebook; cell: OpenCell } | null> {
    const notebook = await this.repository.lock(tx, notebookConfId);
    const cell = notebook && (await this.repository.cell(tx, notebookConfId, cellUuid));
    return notebook && cell?.run_id === runId ? { notebook, cell } : null;
  }
}

/** Appends outputs to a cell within the limits. The numbers of dropped outputs are not reused. */
class OutputAppender {
  /** Change of the size of the cell's outputs; may be negative. */
  private bytes = 0;
  private readonly cell: Pick<OpenCell, 'outputs' | 'pieces' | 'open_stream' | 'is_cut'>;
  private room: number;
  /** Droppable outputs, oldest first; null until outputs must be dropped. */
  private last: KeptOutput[] | null = null;
  private first = 0;
  /** Half-open range of the outputs to remove. */
  private removed = { from: 0, to: 0 };

  constructor(
    private readonly repository: NotebookOutputsRepository,
    private readonly contents: NotebookContentsService,
    private readonly tx: Tx,
    private readonly notebook: LockedNotebook,
    private readonly cellUuid: string,
    { outputs, pieces, open_stream, is_cut, bytes }: OpenCell,
  ) {
    this.cell = { outputs, pieces, open_stream, is_cut };
    const { output_bytes, size_bytes } = notebook;
    this.room = Math.max(0, Math.min(MAX_BYTES - bytes, MAX_NOTEBOOK_BYTES - size_bytes - output_bytes));
  }

  async addAll(outputs: readonly NbOutput[]): Promise<void> {
    // Outputs that later ones would displace are not written at all.
    const keptFirst = Math.max(0, FIRST_OUTPUTS - this.cell.outputs);
    const keptFrom = outputs.length - (MAX_OUTPUTS - FIRST_OUTPUTS);
    for (const [index, output] of outputs.entries()) {
      if (index > keptFirst && index < keptFrom) this.skip();
      else await this.add(output);
    }
    if (this.removed.to > this.removed.from) await this.repository.remove(this.tx, this.cellKey(), this.removed);
    await this.repository.updateTotals(this.tx, this.cellKey(), this.cell, this.bytes);
  }

  private async add(output: NbOutput): Promise<void> {
    if (output.output_type === 'stream') {
      const continues = this.cell.open_stream === output.name;
      for (const piece of streamPieces(continues ? this.cell.outputs - 1 : this.cell.outputs, output)) {
        if (await this.makeRoom(piece.bytes, piece.output)) await this.addPart(piece);
        else return this.skip();
      }
      return;
    }
    const text = exactJson(output);
    if (!(await this.makeRoom(Buffer.byteLength(text), this.cell.outputs))) return this.skip();
    const { tenant_id } = this.notebook;
    const staged = await this.contents.stage(tenant_id, text, MAX_INLINE_BYTES, this.tx);
    await this.contents.keep(this.tx, tenant_id, staged);
    await this.insert(pieceOf(this.cell.outputs, staged));
  }

  private skip(): void {
    this.cell.outputs += 1;
    this.cell.open_stream = null;
    this.cell.is_cut = true;
  }

  /** Returns true if the output fits; drops older outputs if that makes room. */
  private async makeRoom(bytes: number, output: number): Promise<boolean> {
    const isNew = output === this.cell.outputs;
    if (bytes <= this.room && !(isNew && this.cell.outputs >= MAX_OUTPUTS)) return true;
    const last = (this.last ??= await this.readLast());
    const droppable = last.filter((kept) => kept.output !== output);
    if (bytes > this.room + droppable.reduce((sum, kept) => sum + kept.bytes, 0)) return false;
    for (const kept of droppable) {
      if (bytes <= this.room && !(isNew && this.first + last.length >= MAX_OUTPUTS)) break;
      last.shift();
      this.room += kept.bytes;
      this.bytes -= kept.bytes;
      this.removed = { from: this.first, to: kept.output + 1 };
      this.cell.is_cut = true;
    }
    return bytes <= this.room;
  }

  private async readLast(): Promise<KeptOutput[]> {
    const kept = await this.repository.kept(this.tx, this.cellKey());
    let bytes = 0;
    for (const { output, bytes: more } of kept) {
      bytes += more;
      if (output !== this.first || output >= FIRST_OUTPUTS || bytes > FIRST_BYTES) break;
      this.first += 1;
    }
    return kept.slice(this.first);
  }

  private async addPart(piece: NewPiece): Promise<void> {
    if (piece.output < this.cell.outputs) {
      const key = { ...this.cellKey(), number: this.cell.pieces - 1 };
      if (await this.repository.extend(this.tx, key, piece.content ?? '', piece.bytes)) {
        this.count(piece);
        return;
      }
    }
    await this.insert(piece);
  }

  private async insert(piece: NewPiece): Promise<void> {
    await this.repository.insert(this.tx, { ...this.cellKey(), number: this.cell.pieces, ...piece });
    this.cell.pieces += 1;
    this.cell.outputs = piece.output + 1;
    this.cell.open_stream = piece.stream;
    this.count(piece);
  }

  private count({ output, bytes }: NewPiece): void {
    this.bytes += bytes;
    this.room -= bytes;
    if (!this.last) return;
    const last = this.last.at(-1);
    if (last?.output === output) last.bytes += bytes;
    else if (output >= this.first) this.last.push({ output, bytes });
  }

  private cellKey() {
    return { job_conf_id: this.notebook.job_conf_id, cell_uuid: this.cellUuid };
  }
}

/** Reads the outputs of cells in batches of a few MiB. */
export class OutputsReader {
  private readonly rows: ReadonlyMap<string, CellRow>;
  private readonly order: readonly CellRow[];
  private read = new Map<string, PieceRow[]>();
  private next = 0;

  constructor(
    private readonly repository: NotebookOutputsRepository,
    private readonly contents: NotebookContentsService,
    private readonly tenantId: string,
    private readonly notebookConfId: number,
    cells: readonly CellRow[],
  ) {
    this.rows = new Map(cells.map((cell) => [cell.cell_uuid, cell]));
    this.order = cells.filter(({ outputs }) => outputs > 0);
  }

  /** Returns the outputs as chunks of JSON for a file. */
  async written(cellUuid: string): Promise<WrittenOutputs> {
    return {
      executionCount: this.rows.get(cellUuid)?.execution_count ?? null,
      outputs: writtenOutputs(this.contents, this.tenantId, await this.outputs(cellUuid)),
    };
  }

  async shown(cellUuid: string): Promise<ShownOutput[]> {
    const outputs = await parsedOutputs(this.contents, this.tenantId, await this.outputs(cellUuid));
    return outputs.map(shown);
  }

  private async outputs(cellUuid: string): Promise<StoredOutput[]> {
    const outputs = this.rows.get(cellUuid)?.outputs ?? 0;
    if (outputs === 0) return [];
    if (!this.read.has(cellUuid)) await this.readBatch(cellUuid);
    const pieces = this.read.get(cellUuid) ?? [];
    this.read.delete(cellUuid);
    return outputsOf(pieces, outputs);
  }

  private async readBatch(cellUuid: string): Promise<void> {
    const batch = [cellUuid];
    let bytes = this.rows.get(cellUuid)?.bytes ?? 0;
    for (; this.next < this.order.length; this.next += 1) {
      const cell = this.order[this.next];
      if (!cell || cell.cell_uuid === cellUuid) continue;
      bytes += cell.bytes;
      if (bytes > READ_BYTES) break;
      batch.push(cell.cell_uuid);
    }
    this.read = new Map(batch.map((id) => [id, []]));
    for (const piece of await this.repository.pieces(this.notebookConfId, batch)) {
      this.read.get(piece.cell_uuid)?.push(piece);
    }
  }
}

function pieceOf(output: number, { bytes, inline, sha256 }: StagedText): NewPiece {
  return { output, stream: null, bytes, content: inline, sha256: inline === null ? sha256 : null };
}

function streamPieces(output: number, { name, text }: Pick<StreamOutput, 'name' | 'text'>): NewPiece[] {
  const pieces: NewPiece[] = [];
  const add = (part: string) => {
    const content = JSON.stringify(part).slice(1, -1);
    const bytes = Buffer.byteLength(content);
    if (bytes <= MAX_PIECE_BYTES) {
      pieces.push({ output, stream: name, bytes, content, sha256: null });
      return;
    }
    const middle = Math.ceil(part.length / 2);
    add(part.slice(0, middle));
    add(part.slice(middle));
  };
  // An empty stream is an output, too.
  for (let from = 0; from === 0 || from < text.length; from += PIECE_CHARACTERS) {
    add(text.slice(from, from + PIECE_CHARACTERS));
  }
  return pieces;
}

/** The pieces of one output, or null in place of dropped outputs. */
type StoredOutput = readonly PieceRow[] | null;

/** @param total number of outputs, including dropped ones */
function outputsOf(pieces: readonly PieceRow[], total: number): StoredOutput[] {
  const outputs: (PieceRow[] | null)[] = [];
  let next = 0;
  for (const piece of pieces) {
    if (piece.output < next) {
      outputs.at(-1)?.push(piece);
      continue;
    }
    if (piece.output > next) outputs.push(null);
    outputs.push([piece]);
    next = piece.output + 1;
  }
  if (total > next) outputs.push(null);
  return outputs;
}

/** Yields outputs as comma-separated JSON; joins the parts of a stream. */
async function* writtenOutputs(
  contents: NotebookContentsService,
  tenantId: string,
  outputs: readonly StoredOutput[],
): AsyncGenerator<string | Buffer> {
  for (const [index, pieces] of outputs.entries()) {
    if (index > 0) yield ',';
    if (pieces === null) {
      yield JSON.stringify(LEFT_OUT);
      continue;
    }
    const stream = pieces[0]?.stream ?? null;
    if (stream !== null) yield `{"output_type":"stream","name":${JSON.stringify(stream)},"text":"`;
    for (const { content, sha256 } of pieces) {
      if (content !== null) yield content;
      else yield* (await contents.open(tenantId, sha256 ?? '')) as AsyncIterable<Buffer>;
    }
    if (stream !== null) yield '"}';
  }
}

async function parsedOutputs(
  contents: NotebookContentsService,
  tenantId: string,
  outputs: readonly StoredOutput[],
): Promise<NbOutput[]> {
  const parsed: NbOutput[] = [];
  const turns = new EventLoopTurns(LARGE_FROM_BYTES);
  for (const pieces of outputs) {
    if (pieces === null) {
      parsed.push(LEFT_OUT);
      continue;
    }
    const stream = pieces[0]?.stream ?? null;
    const parts: string[] = [];
    for (const { content, sha256 } of pieces) parts.push(content ?? (await contents.text(tenantId, sha256 ?? '')));
    const text = parts.join('');
    await turns.takeFor(text.length);
    const marked = markOpaque(Buffer.from(stream === null ? text : `"${text}"`), KEPT_JSON);
    const value = marked && parseMarked(marked);
    const output = readOutput(stream === null ? value : { output_type: 'stream', name: stream, text: value });
    if (output) parsed.push(output);
  }
  return parsed;
}

/** Returns a hash of outputs in the form that clients see. */
export function shownHash(outputs: readonly ShownOutput[]): string {
  const hash = createHash('sha256');
  for (const { type, Celloutput: content } of outputs) {
    hash.update(`${type} ${Buffer.byteLength(content)} `).update(content);
  }
  return hash.digest('hex');
}
