import { conflict, DomainError } from './domain-error';

interface PgError {
  code: string;
  constraint?: string;
  detail?: string;
}

function pgErrorOf(thrown: unknown): PgError | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  const candidate = 'driverError' in thrown ? thrown.driverError : thrown;
  if (typeof candidate !== 'object' || candidate === null || !('code' in candidate)) return null;
  return typeof candidate.code === 'string' ? (candidate as PgError) : null;
}

/** Whether the thrown error is PostgreSQL's with one of the given SQLSTATEs. */
export function isPgError(thrown: unknown, ...sqlStates: string[]): boolean {
  const error = pgErrorOf(thrown);
  return error !== null && sqlStates.includes(error.code);
}

const UNAVAILABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENOTFOUND',
  '57P01',
  '57P02',
  '57P03',
  '53300',
]);

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

/** What the connection pool says, without a code, if none became free in time. */
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect';

function busy(): DomainError {
  const text = 'The database is busy, perhaps with the same records. Send the request again.';
  return new DomainError('unavailable', 'DATABASE.BUSY', text);
}

/**
 * Domain error for what PostgreSQL refused. Constraints are named for this:
 * `uq_<table>_<field>` is a duplicate of one of the fields below, a foreign key names a reference that is gone or still used.
 */
export function fromDatabaseError(thrown: unknown): DomainError | null {
  if (thrown instanceof Error && thrown.message === POOL_EXHAUSTED) return busy();
  const error = pgErrorOf(thrown);
  if (!error) return null;
  const constraint = error.constraint ?? '';
  if (error.code === '23505') {
    const { code, text } = duplicateOf(constraint);
    return conflict(code, text, { constraint });
  }
  if (error.code === '23503') {
    return conflict('RECORD.REFERENCE', 'A referenced record does not exist, or this record is still referenced.', {
      constraint,
    });
  }
  if (error.code === '22003') return new DomainError('invalid', 'REQUEST.OUT_OF_RANGE', 'A number is out of range.');
  if (error.code === '22021' || error.code === '22P05') {
    return new DomainError('invalid', 'REQUEST.INVALID_TEXT', 'A text contains a character that cannot be stored.');
  }
  if (error.code === '40001' || error.code === '40P01' || error.code === '55P03' || error.code === '57014') {
    return busy();
  }
  if (UNAVAILABLE.has(error.code)) {
    return new DomainError(
      'unavailable',
      'DATABASE.UNAVAILABLE',
      'The database cannot be reached. Send the request again later.',
    );
  }
  return null;
}
