/**
 * - `malformed`: what the table keeps of itself cannot be read
 * - `missing`: a part of it is not there
 * - `too-large`: there is more than may be read
 * - `unsupported`: a kind or feature that is not known here, or that SQL cannot express
 * - `outside`: the credentials do not open the place of the files
 */
export type TableSchemaFault = 'malformed' | 'missing' | 'too-large' | 'unsupported' | 'outside';

/** Why the columns or the DDL of a table cannot be told; the message is for users. */
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

const SHOWN = 200;

/** What a stranger wrote, for a message. */
export function excerpt(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}
