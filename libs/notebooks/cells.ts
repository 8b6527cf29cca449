import { CELL_ID, type CellType, type DocumentCell, MAX_CELLS, type NotebookDocument, NotebookError } from './ipynb';
import { isObject, isShallow, type JsonObject, without } from './json';
import { SHOWN_TYPES, type ShownOutput } from './outputs';

/** A cell as the API shows it. Further keys are kept. */
export interface ShownCell extends JsonObject {
  cell_uuid: string;
  code: string;
  /** A raw cell is shown as markdown. */
  cell_type: 'code' | 'markdown';
  metadata: JsonObject;
  output: ShownOutput[];
}

/** A cell that a client sends. */
export interface SentCell {
  cell_uuid: string;
  code: string;
  cell_type: 'code' | 'markdown';
  /** Undefined if the client sent none; the cell then keeps its metadata. */
  metadata: JsonObject | undefined;
  /** Undefined if the client sent none. */
  output: ShownOutput[] | undefined;
  /** Further keys that the client sent. */
  rest: JsonObject;
}

/** Keys of cells in the API, which cells of a document must not have. */
const SHOWN_KEYS = new Set(['cell_uuid', 'code', 'cell_type', 'metadata', 'output']);
/** Keys of cells in documents. Values that a client sends under one of them are stored below {@link KEPT_UNDER}. */
const DOCUMENT_KEYS = new Set(['id', 'source', 'cell_type', 'metadata', 'outputs', 'execution_count']);

/** Key of a cell's metadata that holds values for which nbformat has no key. As keys of the cell they would make the file invalid. */
const KEPT_UNDER = 'notebook_cell';

export function shownType(type: CellType): ShownCell['cell_type'] {
  return type === 'code' ? 'code' : 'markdown';
}

export function shownCell(cell: DocumentCell, output: ShownOutput[]): ShownCell {
  const { id, source, cell_type, metadata, ...rest } = cell;
  const kept = metadata[KEPT_UNDER];
  return {
    ...without(rest, SHOWN_KEYS),
    ...(isObject(kept) ? without(kept, SHOWN_KEYS) : {}),
    cell_uuid: id,
    code: source,
    cell_type: shownType(cell_type),
    metadata: without(metadata, new Set([KEPT_UNDER])),
    output,
  };
}

/** Reads the cells that a client sends. @throws NotebookError that names the first invalid cell */
export function readCells(cells: readonly unknown[]): SentCell[] {
  if (cells.length > MAX_CELLS) throw new NotebookError(`A notebook has at most ${MAX_CELLS} cells.`);
  const ids = new Set<string>();
  return cells.map((one, index) => {
    const cell = readCell(one, `cells[${index}]`);
    if (ids.has(cell.cell_uuid)) throw new NotebookError(`cells[${index}] has the cell_uuid of a cell before it.`);
    ids.add(cell.cell_uuid);
    return cell;
  });
}

function readCell(value: unknown, where: string): SentCell {
  if (!isObject(value)) throw new NotebookError(`${where} must be an object.`);
  if (!isShallow(value)) throw new NotebookError(`${where} is nested too deep.`);
  const { cell_uuid: id, code, cell_type: type = 'code', metadata, output, ...rest } = value;
  if (typeof id !== 'string' || !CELL_ID.test(id)) {
    throw new NotebookError(`${where}.cell_uuid must be 1 to 64 characters of a-z, A-Z, 0-9, "_" and "-".`);
  }
  if (typeof code !== 'string') throw new NotebookError(`${where}.code must be a string.`);
  if (type !== 'code' && type !== 'markdown') throw new NotebookError(`${where}.cell_type must be code or markdown.`);
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw new NotebookError(`${where}.metadata must be an object.`);
  }
  return {
    cell_uuid: id,
    code,
    cell_type: type,
    metadata: metadata ?? undefined,
    output: readShown(output, where),
    rest,
  };
}

function readShown(outputs: unknown, where: string): ShownOutput[] | undefined {
  if (outputs === undefined) return undefined;
  if (outputs === null) return [];
  if (!Array.isArray(outputs)) throw new NotebookError(`${where}.output must be a list.`);
  return outputs.map((one: unknown, index) => {
    const type = isObject(one) ? SHOWN_TYPES.find((known) => known === one['type']) : undefined;
    const content = isObject(one) ? one['Celloutput'] : undefined;
    if (!type || typeof content !== 'string') {
      throw new NotebookError(`${where}.output[${index}] must have type text, html or image and a string Celloutput.`);
    }
    return { type, Celloutput: content };
  });
}

/**
 * Returns the document with the cells that a client sent. A cell with a known id keeps its nbformat keys, and its type raw if it is
 * shown as markdown.
 */
export function withCells(before: NotebookDocument, sent: readonly SentCell[]): NotebookDocument {
  const known = new Map(before.cells.map((cell) => [cell.id, cell]));
  return { ...before, cells: sent.map((cell) => documentCell(cell, known.get(cell.cell_uuid))) };
}

/** Values that a client does not send stay, because the client may not know them. */
function documentCell({ cell_uuid, code, cell_type, metadata, rest }: SentCell, before?: DocumentCell): DocumentCell {
  const {
    id: _id,
    source: _source,
    cell_type: typeBefore,
    metadata: metadataBefore = {},
    ...restBefore
  } = before ?? {};
  const keptBefore = metadataBefore[KEPT_UNDER];
  const cellKeys: JsonObject = restBefore;
  const kept: JsonObject = isObject(keptBefore) ? { ...keptBefore } : {};
  for (const [key, value] of Object.entries(rest)) {
    const isCellKey = !DOCUMENT_KEYS.has(key) && (key === 'attachments' || Object.hasOwn(restBefore, key));
    (isCellKey ? cellKeys : kept)[key] = value;
  }
  const type = typeBefore && shownType(typeBefore) === cell_type ? typeBefore : cell_type;
  const plain = without(metadata ?? metadataBefore, new Set([KEPT_UNDER]));
  const withKept = Object.keys(kept).length === 0 ? plain : { ...plain, [KEPT_UNDER]: kept };
  return { id: cell_uuid, cell_type: type, metadata: withKept, source: code, ...cellKeys };
}
