import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { parseTrusted } from '../../../libs/json/parse-json';
import type { CellType, WrittenOutputs } from '../../../libs/notebooks/ipynb';
import {
  mergedStreams,
  type NbOutput,
  readOutput,
  shown,
  type ShownOutput,
  type StreamOutput,
} from '../../../libs/notebooks/outputs';
import type { Tx } from '../../platform/persistence/sql';
import { NotebookContentsService, type StagedText } from './notebook-contents.service';
import {
  type CellRow,
  type LockedNotebook,
  type NewOutputs,
  type NewPiece,
  NotebookOutputsRepository,
  PIECE_BYTES,
  type PieceRow,
} from './notebook-outputs.repository';

/** A cell that a run executes. */
export interface ExecutedCell {
  notebookConfId: number;
  cellUuid: string;
  runId: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Of a single output that lies in its row. */
const INLINE_BYTES = 256 * KIB;
/** Of the outputs that runs give to one cell. */
const MOST_BYTES = 10 * MIB;
const MOST_OUTPUTS = 100;
/** Of a notebook with its outputs, as far as runs add to it: as much as can be sent again. */
const MOST_NOTEBOOK_BYTES = 30 * MIB;
/** Most of them are a byte each. */
const PIECE_CHARACTERS = PIECE_BYTES - 4096;
/** Outputs that are in memory at once while a notebook is written. */
const READ_BYTES = 4 * MIB;

/** What a cell has, as far as adding to it needs. */
type OpenCell = NonNullable<Awaited<ReturnType<NotebookOutputsRepository['cell']>>>;

/** Outputs that are to replace those of a cell, with what of them is on its way into the store. */
export interface StagedOutputs {
  given: readonly NbOutput[];
  outputs: NewOutputs;
  texts: readonly StagedText[];
}

/** What executions of cells leave: written as it comes, whoever looks on. */
@Injectable()
export class NotebookOutputsService {
  constructor(
    private readonly repository: NotebookOutputsRepository,
    private readonly contents: NotebookContentsService,
  ) {}

  /**
   * Begins an execution: the cell has no outputs, and those of the run are its own from now on. False, and nothing
   * changes, if the notebook has no such code cell.
   */
  async begin(tx: Tx, { notebookConfId, cellUuid, runId }: ExecutedCell): Promise<boolean> {
    if (!(await this.repository.lock(tx, notebookConfId))) return false;
    return this.repository.clear(tx, notebookConfId, cellUuid, { runId });
  }

  /** Removes the outputs so far. False if the cell is not, or no longer, the run's. */
  async clear(tx: Tx, { notebookConfId, cellUuid, runId }: ExecutedCell): Promise<boolean> {
    if (!(await this.ofRun(tx, { notebookConfId, cellUuid, runId }))) return false;
    return this.repository.clear(tx, notebookConfId, cellUuid, { runId });
  }

  /**
   * Adds outputs; a stream that goes on becomes one output. Of more than 10 MiB or 100 outputs the rest is left out, and
   * a line in stderr says so. What is no output of nbformat (`readOutput`) must be left out before. False if the cell is
   * not, or no longer, the run's.
   */
  async append(tx: Tx, at: ExecutedCell, outputs: readonly NbOutput[]): Promise<boolean> {
    const found = await this.ofRun(tx, at);
    if (!found) return false;
    const { notebook, cell } = found;
    if (cell.is_cut) return true;
    const added = new AddedOutputs(this.repository, this.contents, tx, notebook, at.cellUuid, cell);
    for (const output of mergedStreams(outputs)) {
      if (!(await added.add(output))) break;
    }
    await added.end();
    return true;
  }

  /** Sets how often the kernel has executed something. False if the cell is not, or no longer, the run's. */
  executionCount(tx: Tx, at: ExecutedCell, count: number | null): Promise<boolean> {
    return this.repository.setExecutionCount(tx, at.notebookConfId, at.cellUuid, at.runId, count);
  }

  /** Which of the cells the notebook has, by their ids, and what they are. */
  async cells(tx: Tx, notebookConfId: number, cellUuids: readonly string[]): Promise<Map<string, CellType>> {
    const found = await this.repository.typesOf(tx, notebookConfId, cellUuids);
    return new Map(found.map(({ cell_uuid, cell_type }) => [cell_uuid, cell_type]));
  }

  /** Outputs that shall replace those of a cell; what is large is in the store when this returns. */
  async stage(
    tenantId: string,
    cellUuid: string,
    given: readonly NbOutput[],
    executionCount: number | null,
  ): Promise<StagedOutputs> {
    const pieces: NewPiece[] = [];
    const texts: StagedText[] = [];
    for (const [index, output] of given.entries()) {
      if (output.output_type === 'stream') {
        pieces.push(...streamPieces(index, output));
        continue;
      }
      const text = await this.contents.stage(tenantId, JSON.stringify(output), INLINE_BYTES);
      if (text.inline === null) texts.push(text);
      pieces.push(pieceOf(index, text));
    }
    const last = given.at(-1);
    return {
      given,
      texts,
      outputs: {
        cell_uuid: cellUuid,
        execution_count: executionCount,
        outputs: given.length,
        bytes: pieces.reduce((sum, { bytes }) => sum + bytes, 0),
        open_stream: last?.output_type === 'stream' ? last.name : null,
        shown_sha256: shownHash(given.map(shown)),
        pieces,
      },
    };
  }

  /** Gives cells the outputs, those excepted which an unfinished run has executed. */
  async replace(tx: Tx, tenantId: string, notebookConfId: number, staged: readonly StagedOutputs[]): Promise<void> {
    for (const { texts } of staged) for (const text of texts) await this.contents.keep(tx, tenantId, text);
    await this.repository.replace(
      tx,
      notebookConfId,
      staged.map(({ outputs }) => outputs),
    );
  }

  /** Cells of a notebook by their ids. */
  async rows(notebookConfId: number, tx?: Tx): Promise<Map<string, CellRow>> {
    return new Map((await this.repository.cells(notebookConfId, tx)).map((cell) => [cell.cell_uuid, cell]));
  }

  /** The outputs of a cell. */
  async read(tenantId: string, notebookConfId: number, cellUuid: string): Promise<NbOutput[]> {
    return this.parsed(tenantId, await this.repository.pieces(notebookConfId, [cellUuid]));
  }

  /** Whether the outputs of a cell are those that a client shows. */
  async isShown(
    tenantId: string,
    notebookConfId: number,
    cell: CellRow,
    given: readonly ShownOutput[],
  ): Promise<boolean> {
    if (cell.pieces === 0 || given.length === 0) return cell.pieces === 0 && given.length === 0;
    let { shown_sha256: hash } = cell;
    if (hash === null) {
      hash = shownHash((await this.read(tenantId, notebookConfId, cell.cell_uuid)).map(shown));
      await this.repository.setShown(notebookConfId, cell, hash);
    }
    return hash === shownHash(given);
  }

  /** The outputs of cells one after the other, of which only a few are in memory at once; ask in the order of `cells`. */
  reader(tenantId: string, notebookConfId: number, cells: readonly CellRow[]): OutputsReader {
    return new OutputsReader(this.repository, this.contents, tenantId, notebookConfId, cells);
  }

  private async parsed(tenantId: string, pieces: readonly PieceRow[]): Promise<NbOutput[]> {
    return parsedOutputs(this.contents, tenantId, pieces);
  }

  private async ofRun(
    tx: Tx,
    { notebookConfId, cellUuid, runId }: ExecutedCell,
  ): Promise<{ notebook: LockedNotebook; cell: OpenCell } | null> {
    const notebook = await this.repository.lock(tx, notebookConfId);
    const cell = notebook && (await this.repository.cell(tx, notebookConfId, cellUuid));
    return notebook && cell?.run_id === runId ? { notebook, cell } : null;
  }
}

/** Adds outputs to a cell within the bounds. */
class AddedOutputs {
  private bytes = 0;
  private readonly cell: Pick<OpenCell, 'outputs' | 'pieces' | 'open_stream' | 'is_cut'>;
  private readonly room: number;

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
    this.room = Math.max(0, Math.min(MOST_BYTES - bytes, MOST_NOTEBOOK_BYTES - size_bytes - output_bytes));
  }

  /** False if that was too much. */
  async add(output: NbOutput): Promise<boolean> {
    const goesOn = output.output_type === 'stream' && this.cell.open_stream === output.name;
    if (!goesOn && this.cell.outputs >= MOST_OUTPUTS) return this.cut(`${MOST_OUTPUTS} outputs`);
    if (output.output_type === 'stream') {
      for (const piece of streamPieces(this.next(goesOn), output)) {
        if (this.bytes + piece.bytes > this.room) return this.cut(`${MOST_BYTES / MIB} MiB`);
        await this.addPart(piece);
      }
      return true;
    }
    const text = JSON.stringify(output);
    if (this.bytes + Buffer.byteLength(text) > this.room) return this.cut(`${MOST_BYTES / MIB} MiB`);
    const { tenant_id } = this.notebook;
    const staged = await this.contents.stage(tenant_id, text, INLINE_BYTES, this.tx);
    await this.contents.keep(this.tx, tenant_id, staged);
    await this.insert(pieceOf(this.next(false), staged));
    return true;
  }

  end(): Promise<void> {
    return this.repository.added(this.tx, this.place(), this.cell, this.bytes);
  }

  /** Place of the output that goes on, or of another one. */
  private next(goesOn: boolean): number {
    return goesOn ? this.cell.outputs - 1 : this.cell.outputs;
  }

  private async addPart(piece: NewPiece): Promise<void> {
    if (piece.output < this.cell.outputs) {
      const place = { ...this.place(), number: this.cell.pieces - 1 };
      if (await this.repository.extend(this.tx, place, piece.content ?? '', piece.bytes)) {
        this.bytes += piece.bytes;
        return;
      }
    }
    await this.insert(piece);
  }

  private async insert(piece: NewPiece): Promise<void> {
    await this.repository.insert(this.tx, { ...this.place(), number: this.cell.pieces, ...piece });
    this.cell.pieces += 1;
    this.cell.outputs = piece.output + 1;
    this.cell.open_stream = piece.stream;
    this.bytes += piece.bytes;
  }

  private async cut(bound: string): Promise<false> {
    const text = `\nThe output was cut: a cell keeps at most ${bound}, and a notebook with its outputs ${MOST_NOTEBOOK_BYTES / MIB} MiB.\n`;
    const place = this.next(this.cell.open_stream === 'stderr');
    for (const piece of streamPieces(place, { name: 'stderr', text })) await this.addPart(piece);
    this.cell.is_cut = true;
    return false;
  }

  private place() {
    return { job_conf_id: this.notebook.job_conf_id, cell_uuid: this.cellUuid };
  }
}

/** Reads the outputs of cells, as many at a time as fit into a few MiB. */
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
    this.order = cells.filter(({ pieces }) => pieces > 0);
  }

  /** For a file: as pieces of JSON. */
  async written(cellUuid: string): Promise<WrittenOutputs> {
    const pieces = await this.pieces(cellUuid);
    return {
      executionCount: this.rows.get(cellUuid)?.execution_count ?? null,
      outputs: writtenPieces(this.contents, this.tenantId, pieces),
    };
  }

  async shown(cellUuid: string): Promise<ShownOutput[]> {
    const outputs = await parsedOutputs(this.contents, this.tenantId, await this.pieces(cellUuid));
    return outputs.map(shown);
  }

  private async pieces(cellUuid: string): Promise<PieceRow[]> {
    if ((this.rows.get(cellUuid)?.pieces ?? 0) === 0) return [];
    if (!this.read.has(cellUuid)) await this.readOn(cellUuid);
    const pieces = this.read.get(cellUuid) ?? [];
    this.read.delete(cellUuid);
    return pieces;
  }

  private async readOn(cellUuid: string): Promise<void> {
    const asked = [cellUuid];
    let bytes = this.rows.get(cellUuid)?.bytes ?? 0;
    for (; this.next < this.order.length; this.next += 1) {
      const cell = this.order[this.next];
      if (!cell || cell.cell_uuid === cellUuid) continue;
      bytes += cell.bytes;
      if (bytes > READ_BYTES) break;
      asked.push(cell.cell_uuid);
    }
    this.read = new Map(asked.map((id) => [id, []]));
    for (const piece of await this.repository.pieces(this.notebookConfId, asked)) {
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
    if (bytes <= PIECE_BYTES) {
      pieces.push({ output, stream: name, bytes, content, sha256: null });
      return;
    }
    const middle = Math.ceil(part.length / 2);
    add(part.slice(0, middle));
    add(part.slice(middle));
  };
  // A stream without a text is an output, too.
  for (let from = 0; from === 0 || from < text.length; from += PIECE_CHARACTERS) {
    add(text.slice(from, from + PIECE_CHARACTERS));
  }
  return pieces;
}

/** JSON of outputs with commas between; the parts of a stream become one. */
async function* writtenPieces(
  contents: NotebookContentsService,
  tenantId: string,
  pieces: readonly PieceRow[],
): AsyncGenerator<string | Buffer> {
  for (const [index, { output, stream, content, sha256 }] of pieces.entries()) {
    const isFirst = pieces[index - 1]?.output !== output;
    const isLast = pieces[index + 1]?.output !== output;
    if (isFirst && index > 0) yield ',';
    if (isFirst && stream !== null) yield `{"output_type":"stream","name":${JSON.stringify(stream)},"text":"`;
    if (content !== null) yield content;
    else yield* (await contents.open(tenantId, sha256 ?? '')) as AsyncIterable<Buffer>;
    if (isLast && stream !== null) yield '"}';
  }
}

async function parsedOutputs(
  contents: NotebookContentsService,
  tenantId: string,
  pieces: readonly PieceRow[],
): Promise<NbOutput[]> {
  const texts: { stream: string | null; parts: string[] }[] = [];
  for (const [index, { output, stream, content, sha256 }] of pieces.entries()) {
    if (pieces[index - 1]?.output !== output) texts.push({ stream, parts: [] });
    texts.at(-1)?.parts.push(content ?? (await contents.text(tenantId, sha256 ?? '')));
  }
  return texts.flatMap(({ stream, parts }) => {
    const text = parts.join('');
    const value = parseTrusted<unknown>(stream === null ? text : `"${text}"`);
    return readOutput(stream === null ? value : { output_type: 'stream', name: stream, text: value }) ?? [];
  });
}

/** One of the same outputs as clients see them. */
export function shownHash(outputs: readonly ShownOutput[]): string {
  const hash = createHash('sha256');
  for (const { type, Celloutput: content } of outputs) {
    hash.update(`${type} ${Buffer.byteLength(content)} `).update(content);
  }
  return hash.digest('hex');
}
