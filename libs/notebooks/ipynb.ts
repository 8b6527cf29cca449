import { createHash } from 'node:crypto';
import { exactJson } from '../json/exact-json';
import { isObject, isShallow, type JsonObject, textOf, without } from './json';
import { executionCount, type NbOutput, readOutput } from './outputs';

/** Why something is no notebook: a sentence for its author. */
export class NotebookError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotebookError';
  }
}

export const CELL_TYPES = ['code', 'markdown', 'raw'] as const;
export type CellType = (typeof CELL_TYPES)[number];

export const MAX_CELLS = 10_000;
/** What nbformat allows as the id of a cell. */
export const CELL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A cell without its outputs; keys that nobody here knows are kept. */
export interface DocumentCell extends JsonObject {
  id: string;
  cell_type: CellType;
  source: string;
  metadata: JsonObject;
}

/** A notebook of nbformat 4.5 or a later minor version without its outputs; keys that nobody here knows are kept. */
export interface NotebookDocument extends JsonObject {
  cells: DocumentCell[];
  metadata: JsonObject;
  nbformat: 4;
  nbformat_minor: number;
}

/** What the last execution of a cell left. */
export interface CellOutputs {
  outputs: NbOutput[];
  executionCount: number | null;
}

export interface ReadNotebook {
  document: NotebookDocument;
  /** By the ids of cells; those without any are absent. */
  outputs: Map<string, CellOutputs>;
}

const MINOR = 5;
const OF_RUNS = new Set(['outputs', 'execution_count']);
const OF_CELLS = new Set(['id', 'cell_type', 'source', 'metadata', ...OF_RUNS]);

/** What a kernel of the language calls itself, as notebooks say it. */
export function kernelMetadata(language: string): JsonObject {
  switch (language) {
    case 'Scala':
      return {
        kernelspec: { display_name: 'Scala', language: 'scala', name: 'scala' },
        language_info: { name: 'scala', file_extension: '.scala' },
      };
    case 'SQL':
      return {
        kernelspec: { display_name: 'SQL', language: 'sql', name: 'sql' },
        language_info: { name: 'sql', file_extension: '.sql' },
      };
    default:
      return {
        kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' },
        language_info: { name: 'python', file_extension: '.py' },
      };
  }
}

export function emptyDocument(language: string): NotebookDocument {
  return { cells: [], metadata: kernelMetadata(language), nbformat: 4, nbformat_minor: MINOR };
}

/**
 * Reads a parsed .ipynb file; throws {@link NotebookError}. Cells get the ids that they lack, or share, or that are none:
 * always the same ones for the same file.
 */
export function readIpynb(value: unknown): ReadNotebook {
  if (!isObject(value)) throw new NotebookError('It is no notebook: a JSON object is needed.');
  if (!isShallow(value)) throw new NotebookError('It is nested too deep for a notebook.');
  const { cells: given, metadata, nbformat, nbformat_minor: minor, ...rest } = value;
  if (nbformat !== 4) throw new NotebookError('It is no notebook of format 4: its nbformat must be 4.');
  if (!Array.isArray(given)) throw new NotebookError('It is no notebook: its cells must be a list.');
  if (given.length > MAX_CELLS) throw new NotebookError(`It has more than ${MAX_CELLS} cells.`);
  const ids = new Set<string>();
  const outputs = new Map<string, CellOutputs>();
  const cells = given.map((cell, index) => {
    const read = readCell(cell, index, ids);
    const left = readOutputs(cell as JsonObject, read);
    if (left) outputs.set(read.id, left);
    return read;
  });
  return {
    document: {
      ...rest,
      cells,
      metadata: isObject(metadata) ? metadata : {},
      nbformat: 4,
      nbformat_minor: typeof minor === 'number' && Number.isInteger(minor) && minor > MINOR ? minor : MINOR,
    },
    outputs,
  };
}

function readCell(given: unknown, index: number, ids: Set<string>): DocumentCell {
  const where = `Its cell ${index + 1}`;
  if (!isObject(given)) throw new NotebookError(`${where} is no object.`);
  const type = CELL_TYPES.find((known) => known === given['cell_type']);
  if (!type) throw new NotebookError(`${where} is none of ${CELL_TYPES.join(', ')}: its cell_type says so.`);
  const source = textOf(given['source']);
  if (source === null) throw new NotebookError(`${where} has no source: a text, or a list of lines.`);
  const { metadata } = given;
  const id = idOf(given['id'], `${index}:${source}`, ids);
  const rest = without(given, OF_CELLS);
  return { id, cell_type: type, metadata: isObject(metadata) ? metadata : {}, source, ...rest };
}

/** A made-up id comes from the place and the text, so that the same file always has the same ones. */
function idOf(given: unknown, seed: string, ids: Set<string>): string {
  const named = typeof given === 'string' && CELL_ID.test(given) && !ids.has(given) ? given : null;
  let id = named ?? madeId(seed);
  for (let more = 1; named === null && ids.has(id); more += 1) id = madeId(`${more}:${seed}`);
  ids.add(id);
  return id;
}

function madeId(seed: string): string {
  return createHash('sha256').update(seed).digest('hex').slice(0, 16);
}

function readOutputs(given: JsonObject, cell: DocumentCell): CellOutputs | null {
  if (cell.cell_type !== 'code') return null;
  const list = Array.isArray(given['outputs']) ? given['outputs'] : [];
  const outputs = list.map(readOutput).filter((output) => output !== null);
  const count = executionCount(given['execution_count']);
  return outputs.length === 0 && count === null ? null : { outputs, executionCount: count };
}

/** A document as the text that its revision keeps. */
export function documentText(document: NotebookDocument): string {
  return exactJson(document);
}

/** What of the outputs of a cell is written into a file: JSON texts of outputs, in pieces of any size. */
export interface WrittenOutputs {
  executionCount: number | null;
  outputs: AsyncIterable<string | Buffer> | Iterable<string | Buffer>;
}

/** A notebook as the text of an .ipynb file, piece by piece; cells have the outputs that `outputsOf` finds. */
export async function* ipynbText(
  document: NotebookDocument,
  outputsOf: (cell: DocumentCell) => WrittenOutputs | Promise<WrittenOutputs>,
): AsyncGenerator<string | Buffer> {
  const { cells, ...rest } = document;
  yield '{"cells":[';
  for (const [index, cell] of cells.entries()) {
    const text = `${index === 0 ? '' : ','}\n${exactJson(cell)}`;
    if (cell.cell_type !== 'code') {
      yield text;
      continue;
    }
    const { executionCount: count, outputs } = await outputsOf(cell);
    yield `${text.slice(0, -1)},"execution_count":${count ?? 'null'},"outputs":[`;
    yield* outputs;
    yield ']}';
  }
  yield `\n],${exactJson(rest).slice(1)}\n`;
}

/** Without outputs. */
export const NO_OUTPUTS: WrittenOutputs = { executionCount: null, outputs: [] };
