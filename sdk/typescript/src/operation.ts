/** The bytes of a file, which can be sent again. */
export type Upload = Blob | Uint8Array<ArrayBuffer> | string;

/**
 * Says how a value of an answer is converted: an id that is sent as a text becomes a number, and `infinity`, the end of what has not
 * ended, null. A list has one shape for its items, a record one for each field, and a map one for all its values, as `*`.
 */
export type Shape = 'int' | 'open' | readonly [Shape] | { readonly [field: string]: Shape };

/** An operation of openapi.json that takes an I and answers an A. */
export interface Operation<I, A> {
  readonly name: string;
  readonly method: string;
  /** Path with the names of its parameters in braces. */
  readonly path: string;
  readonly shape?: Shape;
  /** Set if the answer is no JSON. */
  readonly as?: 'text' | 'blob';
  /** The types exist for the compiler only. */
  readonly input?: I;
  readonly answer?: A;
}

/** An operation whose answer is a page of records. */
export interface PagedOperation<I, P, R> extends Operation<I, P> {
  readonly record?: R;
}

/** A place in a list of pages. */
export interface ResultSet {
  next_page?: number | null;
}

/** Converts an answer as its shape says. What has another form than expected stays as it is. */
export function convert(value: unknown, shape: Shape | undefined): unknown {
  if (shape === undefined || value === null || value === undefined) return value;
  if (shape === 'int') return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (shape === 'open') return value === 'infinity' ? null : value;
  if (isList(shape)) return Array.isArray(value) ? value.map((item: unknown) => convert(item, shape[0])) : value;
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, field]: [string, unknown]) => [
    key,
    convert(field, shape['*'] ?? shape[key]),
  ]);
  return Object.fromEntries(entries);
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
