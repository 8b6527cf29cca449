/**
 * - `malformed`: the table's metadata cannot be parsed
 * - `missing`: a part of the metadata does not exist
 * - `too-large`: the metadata exceed a limit
 * - `unsupported`: the kind of table or a feature is unknown, or SQL cannot express it
 * - `outside`: the credentials do not open the location of the files
 */
export type TableSchemaFault = 'malformed' | 'missing' | 'too-large' | 'unsupported' | 'outside';

/** The columns or the DDL of a table cannot be determined. The message is for users. */
export class TableSchemaError extends Error {
  constructor(
    readonly fault: TableSchemaFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'TableSchemaError';
  }
}

const MAX_EXCERPT_LENGTH = 200;

/** Quotes an untrusted text in a message: on one line, of bounded length. */
export function excerpt(text: string): string {
  return JSON.stringify(text.length > MAX_EXCERPT_LENGTH ? `${text.slice(0, MAX_EXCERPT_LENGTH)}…` : text);
}
