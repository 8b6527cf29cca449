import { conflict, DomainError, overloaded, unavailable } from './domain-error';

interface DriverError {
  /** SQLSTATE, or a code of Node.js; absent from what the driver itself finds. */
  code?: unknown;
  message?: unknown;
  constraint?: string;
}

/** The driver's error, which TypeORM wraps if a statement failed. */
function driverErrorOf(thrown: unknown): DriverError | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  const error = 'driverError' in thrown ? thrown.driverError : thrown;
  return typeof error === 'object' ? error : null;
}

/** Whether the thrown error is PostgreSQL's with one of the given SQLSTATEs. */
export function isPgError(thrown: unknown, ...sqlStates: string[]): boolean {
  const code = driverErrorOf(thrown)?.code;
  return typeof code === 'string' && sqlStates.includes(code);
}

/** The message for a taken value of a field; no field's name may end in an underscore and another field's name. */
const DUPLICATES: Readonly<Record<string, { code: string; text: string }>> = {
  name: { code: 'RECORD.DUPLICATE_NAME', text: 'A current record with this name already exists.' },
  username: {
    code: 'RECORD.DUPLICATE_USERNAME',
    text: 'The user name is taken; a disabled account keeps its name, too. Choose another one.',
  },
  email: { code: 'RECORD.DUPLICATE_EMAIL', text: 'The e-mail address belongs to another account. Use another one.' },
  url: { code: 'RECORD.DUPLICATE_URL', text: 'A current record with this URL already exists.' },
  metastore_catalog: {
    code: 'RECORD.DUPLICATE_CATALOG_SECRETS',
    text: 'Secrets of this owner are attached to the catalog already. Change or detach those.',
  },
  mount_point: { code: 'RECORD.DUPLICATE_MOUNT_POINT', text: 'A current mount already has this mount point.' },
};

function duplicateOf(constraint: string): { code: string; text: string } {
  const [, taken] = Object.entries(DUPLICATES).find(([field]) => constraint.endsWith(`_${field}`)) ?? [];
  return taken ?? { code: 'RECORD.DUPLICATE', text: 'Such a record already exists.' };
}

/** What keeps the database from answering, which has nothing to do with the request. */
type Unavailability = 'contended' | 'slow' | 'unreachable';

const ERRORS: Readonly<Record<Unavailability, () => DomainError>> = {
  // Two callers want the same, which is no fault: the log of a flood would be full of stacks.
  contended: () =>
    overloaded('DATABASE.BUSY', 'Other requests are changing the same records at the moment. Send the request again.'),
  slow: () => unavailable('DATABASE.BUSY', 'The database is busy. Send the request again.', 1),
  unreachable: () =>
    unavailable('DATABASE.UNAVAILABLE', 'The database cannot be reached. Send the request again later.', 5),
};

/** By SQLSTATE, its class (the first two characters) or a kind of shutdown (the first three); by the code of Node.js. */
const UNAVAILABILITY_BY_CODE: ReadonlyMap<string, Unavailability> = new Map([
  // Serialization failure, deadlock, a lock that was not to be had in time.
  ['40001', 'contended'],
  ['40P01', 'contended'],
  ['55P03', 'contended'],
  // A statement that took too long.
  ['57014', 'slow'],
  // The connection, which a failover breaks, and a server that stops, starts, or ended a session that did nothing.
  ['08', 'unreachable'],
  ['57P', 'unreachable'],
  ['25P03', 'unreachable'],
  // Whether the commit succeeded is unknown.
  ['40003', 'unreachable'],
  // What was the primary can be read only.
  ['25006', 'unreachable'],
  // No disk, memory or connections.
  ['53', 'unreachable'],
  ['EAI_AGAIN', 'unreachable'],
  ['ECONNABORTED', 'unreachable'],
  ['ECONNREFUSED', 'unreachable'],
  ['ECONNRESET', 'unreachable'],
  ['EHOSTDOWN', 'unreachable'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETDOWN', 'unreachable'],
  ['ENETRESET', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['ENOTFOUND', 'unreachable'],
  ['EPIPE', 'unreachable'],
  ['ETIMEDOUT', 'unreachable'],
]);

/** What the driver and its pool say without a code. */
const UNAVAILABILITY_BY_MESSAGE: ReadonlyMap<string, Unavailability> = new Map([
  ['timeout exceeded when trying to connect', 'slow'],
  ['Client has encountered a connection error and is not queryable', 'unreachable'],
  ['Client was closed and is not queryable', 'unreachable'],
  ['Connection terminated', 'unreachable'],
  ['Connection terminated due to connection timeout', 'unreachable'],
  ['Connection terminated unexpectedly', 'unreachable'],
]);

function unavailabilityOf(error: { code?: unknown; message?: unknown }): Unavailability | undefined {
  const { code, message } = error;
  if (typeof code !== 'string') return typeof message === 'string' ? UNAVAILABILITY_BY_MESSAGE.get(message) : undefined;
  return (
    UNAVAILABILITY_BY_CODE.get(code) ??
    UNAVAILABILITY_BY_CODE.get(code.slice(0, 3)) ??
    UNAVAILABILITY_BY_CODE.get(code.slice(0, 2))
  );
}

/**
 * Domain error for what PostgreSQL refused. Constraints are named for this:
 * `uq_<table>_<field>` is a duplicate of one of the fields below, a foreign key names a reference that is gone or still used.
 */
export function fromDatabaseError(thrown: unknown): DomainError | null {
  const error = driverErrorOf(thrown);
  if (!error) return null;
  const { code, constraint = '' } = error;
  if (code === '23505') {
    const duplicate = duplicateOf(constraint);
    return conflict(duplicate.code, duplicate.text, { constraint });
  }
  if (code === '23503') {
    return conflict('RECORD.REFERENCE', 'A referenced record does not exist, or this record is still referenced.', {
      constraint,
    });
  }
  if (code === '22003') return new DomainError('invalid', 'REQUEST.OUT_OF_RANGE', 'A number is out of range.');
  if (code === '22021' || code === '22P05') {
    return new DomainError('invalid', 'REQUEST.INVALID_TEXT', 'A text contains a character that cannot be stored.');
  }
  const unavailability = unavailabilityOf(error);
  return unavailability === undefined ? null : ERRORS[unavailability]();
}
