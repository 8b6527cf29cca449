import { conflict, DomainError, overloaded, unavailable } from './domain-error';

interface DriverError {
  /** SQLSTATE, or a code of Node.js; absent in errors of the driver itself. */
  code?: unknown;
  message?: unknown;
  constraint?: string;
}

/** Returns the driver's error, which TypeORM wraps if a statement failed. */
function driverErrorOf(thrown: unknown): DriverError | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  const error = 'driverError' in thrown ? thrown.driverError : thrown;
  return typeof error === 'object' ? error : null;
}

/** True for an error of PostgreSQL with one of these SQLSTATEs. */
export function isPgError(thrown: unknown, ...sqlStates: string[]): boolean {
  const code = driverErrorOf(thrown)?.code;
  return typeof code === 'string' && sqlStates.includes(code);
}

/** Messages for duplicates by field. No field's name may end in an underscore and another field's name. */
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

function duplicateOf(constraint: string): DomainError {
  const [field, taken] = Object.entries(DUPLICATES).find(([one]) => constraint.endsWith(`_${one}`)) ?? [];
  if (field === undefined || !taken)
    return conflict('RECORD.DUPLICATE', 'The same record already exists.', { constraint });
  return conflict(taken.code, taken.text, { constraint, fields: { [field]: [taken.text] } });
}

/** Reasons for which the database cannot respond, whatever the request is. */
type Unavailability = 'contended' | 'slow' | 'unreachable';

const ERRORS: Readonly<Record<Unavailability, () => DomainError>> = {
  // Contention is no fault, so it is logged without a stack: a flood must not fill the log with stacks.
  contended: () =>
    overloaded('DATABASE.BUSY', 'Other requests are changing the same records at the moment. Send the request again.'),
  slow: () => unavailable('DATABASE.BUSY', 'The database is busy. Send the request again.', 1),
  unreachable: () =>
    unavailable('DATABASE.UNAVAILABLE', 'The database cannot be reached. Send the request again later.', 5),
};

/** Keys are SQLSTATEs, their classes (two characters), kinds of shutdowns (three characters), and codes of Node.js. */
const UNAVAILABILITY_BY_CODE: ReadonlyMap<string, Unavailability> = new Map([
  // Serialization failure, deadlock, lock timeout.
  ['40001', 'contended'],
  ['40P01', 'contended'],
  ['55P03', 'contended'],
  // Statement timeout.
  ['57014', 'slow'],
  // A broken connection, a server that stops or starts, and an idle session that it ended.
  ['08', 'unreachable'],
  ['57P', 'unreachable'],
  ['25P03', 'unreachable'],
  // It is unknown whether the commit succeeded.
  ['40003', 'unreachable'],
  // The former primary is read-only after a failover.
  ['25006', 'unreachable'],
  // The server lacks disk space, memory or connections.
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

/** Errors of the driver and its pool have only a message. */
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
 * Converts an error of PostgreSQL to a domain error; null if it is a bug. Names of constraints decide: `uq_<table>_<field>`
 * is a duplicate of a field of {@link DUPLICATES}, and a foreign key is a reference that is missing or still used.
 */
export function fromDatabaseError(thrown: unknown): DomainError | null {
  const error = driverErrorOf(thrown);
  if (!error) return null;
  const { code, constraint = '' } = error;
  if (code === '23505') return duplicateOf(constraint);
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
