import type { MetastoreError, MetastoreFault } from '../../../../libs/metastore-clients/metastore-client';
import { type ObjectStoreErrorCode, ObjectStoreError } from '../../../../libs/object-storage/object-store';
import { TableSchemaError, type TableSchemaFault } from '../../../../libs/table-schemas/table-schema-error';
import { DomainError, type ErrorKind } from '../../../platform/kernel/errors/domain-error';

/** Maps faults of a metastore to errors for clients: a wrong configuration, or a failure of the metastore. */
const KINDS: Record<MetastoreFault, ErrorKind> = {
  unreachable: 'upstream',
  timeout: 'unavailable',
  denied: 'invalid',
  missing: 'not-found',
  unsupported: 'invalid',
  'too-large': 'invalid',
  failed: 'upstream',
};

export function metastoreOf(catalogName: string): string {
  return `The metastore of the catalog "${catalogName}"`;
}

/** Converts the error of a metastore to a domain error with the provider's message. */
export function fromMetastore(metastore: string, error: MetastoreError): DomainError {
  const code = `METASTORE.${error.fault.toUpperCase().replaceAll('-', '_')}`;
  const message = `${metastore}: ${error.message}`;
  return new DomainError(KINDS[error.fault], code, message, {}, { cause: error });
}

/**
 * Returns the error for a call that was skipped because the last ones were not answered.
 * @param lastFault the last error that this caller received; null if another caller received it
 */
export function circuitOpen(catalogName: string, lastFault: string | null, retryAfterSeconds: number): DomainError {
  const last = lastFault === null ? '' : ` The last error was: ${lastFault}`;
  const message = `${metastoreOf(catalogName)} has not answered lately. Try again in ${retryAfterSeconds} seconds.${last}`;
  return new DomainError('unavailable', 'METASTORE.UNREACHABLE', message, { retry_after_seconds: retryAfterSeconds });
}

const SCHEMA_KINDS: Record<TableSchemaFault, ErrorKind> = {
  malformed: 'invalid',
  missing: 'not-found',
  'too-large': 'invalid',
  unsupported: 'invalid',
  outside: 'invalid',
};

/** Errors that the store causes; the secret or the table causes all others. */
const STORE_FAILURES: ReadonlySet<ObjectStoreErrorCode> = new Set(['TIMEOUT', 'UNAVAILABLE', 'REFUSED']);

/** Converts an error of reading a table's files to a domain error; returns any other error unchanged. */
export function fromTableFiles(table: string, error: unknown): unknown {
  const message = (text: string) => `The table ${table}: ${text}`;
  if (error instanceof TableSchemaError) {
    const code = `TABLE.${error.fault.toUpperCase().replaceAll('-', '_')}`;
    return new DomainError(SCHEMA_KINDS[error.fault], code, message(error.message), {}, { cause: error });
  }
  if (!(error instanceof ObjectStoreError)) return error;
  const kind = STORE_FAILURES.has(error.code) ? 'upstream' : 'invalid';
  return new DomainError(kind, `OBJECT_STORAGE.${error.code}`, message(error.message), {}, { cause: error });
}
