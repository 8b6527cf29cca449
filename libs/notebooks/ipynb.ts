import { createHash } from 'node:crypto';
import { exactJson } from '../json/exact-json';
import { isObject, isShallow, type JsonObject, MAX_DEPTH, textOf, without } from './json';
import { executionCount, type NbOutput, readOutput } from './outputs';

/** Thrown for a file that is not a usable notebook. Its message is for the author. */
export class NotebookError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotebookError';
  }
}

export const CELL_TYPES = ['code', 'markdown', 'raw'] as const;
export type CellType = (typeof CELL_TYPES)[number];

export const MAX_CELLS = 10_000;
/** The ids that nbformat allows for cells. */
export const CELL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A cell without its outputs. Unknown keys are kept. */
export interface DocumentCell extends JsonObject {
  id: string;
  cell_type: CellType;
  source: string;
  metadata: JsonObject;
}

/** A notebook of nbformat 4.5 or a later minor version without its outputs. Unknown keys are kept. */
export interface NotebookDocument extends JsonObject {
  cells: DocumentCell[];
  metadata: JsonObject;
  nbformat: 4;
  nbformat_minor: number;
}

/** The results of a cell's last execution. */
export interface CellOutputs {
  outputs: NbOutput[];
  executionCount: number | null;
}

export interface ReadNotebook {
  document: NotebookDocument;
  /** Outputs by the id of their cell. Cells without outputs are absent. */
  outputs: Map<string, CellOutputs>;
}

const MINOR = 5;
const EXECUTION_KEYS = new Set(['outputs', 'execution_count']);
const CELL_KEYS = new Set(['id', 'cell_type', 'source', 'metadata', ...EXECUTION_KEYS]);

/** Returns the metadata by which notebooks name the kernel of a language. */
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
 * Reads a parsed .ipynb file. A cell whose id is missing, malformed or a duplicate gets a new one, which is always the same for
 * the same file.
 * @throws NotebookError
 */
export function readIpynb(value: unknown): ReadNotebook {
  if (!isObject(value)) throw new NotebookError('The file is not a notebook: it must be a JSON object.');
  if (!isShallow(value))
    throw new NotebookError(`The file is not a notebook: it has more than ${MAX_DEPTH} levels of nesting.`);
  const { cells: sources, metadata, nbformat, nbformat_minor: minor, ...rest } = value;
  if (nbformat !== 4)
    throw new NotebookError(
      'The file is not a notebook of format 4: its nbformat must be 4. Convert it with "jupyter nbconvert --to notebook".',
    );
  if (!Array.isArray(sources)) throw new NotebookError('The file is not a notebook: its "cells" must be a list.');
  if (sources.length > MAX_CELLS) throw new NotebookError(`The notebook has more than ${MAX_CELLS} cells.`);
  const ids = new Set<string>();
  const outputs = new Map<string, CellOutputs>();
  const cells = sources.map((cell, index) => {
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

function readCell(value: unknown, index: number, ids: Set<string>): DocumentCell {
  const where = `Cell ${index + 1}`;
  if (!isObject(value)) throw new NotebookError(`${where} must be an object.`);
  const type = CELL_TYPES.find((known) => known === value['cell_type']);
  if (!type) throw new NotebookError(`${where} must have one of the cell types ${CELL_TYPES.join(', ')}.`);
  const source = textOf(value['source']);
  if (source === null) throw new NotebookError(`${where} must have a "source": a string or a list of lines.`);
  const { metadata } = value;
  const id = idOf(value['id'], `${index}:${source}`, ids);
  const rest = without(value, CELL_KEYS);
  return { id, cell_type: type, metadata: isObject(metadata) ? metadata : {}, source, ...rest };
}

/** A new id is derived from the cell's position and source, so that the same file always gets the same ids. */
function idOf(value: unknown, seed: string, ids: Set<string>): string {
  const usable = typeof value === 'string' && CELL_ID.test(value) && !ids.has(value) ? value : null;
  let id = usable ?? derivedId(seed);
  for (let attempt = 1; usable === null && ids.has(id); attempt += 1) id = derivedId(`${attempt}:${seed}`);
  ids.add(id);
  return id;
}

function derivedId(seed: string): string {
  return createHash('sha256').update(seed).digest('hex').slice(0, 16);
}

function readOutputs(value: JsonObject, cell: DocumentCell): CellOutputs | null {
  if (cell.cell_type !== 'code') return null;
  const list = Array.isArray(value['outputs']) ? value['outputs'] : [];
  const outputs = list.map(readOutput).filter((output) => output !== null);
  const count = executionCount(value['execution_count']);
  return outputs.length === 0 && count === null ? null : { outputs, executionCount: count };
}

/** Returns the text in which a revision stores its document. */
export function documentText(document: NotebookDocument): string {
  return exactJson(document);
}

/** The outputs of a cell as they are written into a file: JSON texts in pieces of any size. */
export interface WrittenOutputs {
  executionCount: number | null;
  outputs: AsyncIterable<string | Buffer> | Iterable<string | Buffer>;
}

/** Yields the text of an .ipynb file in pieces. `outputsOf` supplies the outputs of each cell. */
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

export const NO_OUTPUTS: WrittenOutputs = { executionCount: null, outputs: [] };
