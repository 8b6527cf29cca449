import type { MetastoreError, MetastoreFault } from '../../../../libs/metastore-clients/metastore-client';
import { type ObjectStoreErrorCode, ObjectStoreError } from '../../../../libs/object-storage/object-store';
import { TableSchemaError, type TableSchemaFault } from '../../../../libs/table-schemas/table-schema-error';
import { DomainError, type ErrorKind } from '../../../platform/kernel/errors/domain-error';

/** What the failures of a metastore are to a client: a wrong configuration, or the metastore's own trouble. */
const KINDS: Record<MetastoreFault, ErrorKind> = {
  unreachable: 'upstream',
  timeout: 'unavailable',
  denied: 'invalid',
  missing: 'not-found',
  unsupported: 'invalid',
  'too-large': 'invalid',
  failed: 'upstream',
};

/** The metastore of a catalog, for messages. */
export function metastoreOf(catalogName: string): string {
  return `The metastore of the catalog "${catalogName}"`;
}

/** The refusal that a failed call to a metastore is, in the provider's words. */
export function fromMetastore(metastore: string, error: MetastoreError): DomainError {
  const code = `METASTORE.${error.fault.toUpperCase().replaceAll('-', '_')}`;
  const message = `${metastore}: ${error.message}`;
  return new DomainError(KINDS[error.fault], code, message, {}, { cause: error });
}

/**
 * The refusal of a call that was not made, since none of the last ones was answered.
 * @param lastFault what the caller was told last; null where somebody else was
 */
export function notTried(catalogName: string, lastFault: string | null, retryAfterSeconds: number): DomainError {
  const last = lastFault === null ? '' : ` Last it was: ${lastFault}`;
  const message = `${metastoreOf(catalogName)} has not answered lately, and is asked again in some seconds.${last}`;
  return new DomainError('unavailable', 'METASTORE.UNREACHABLE', message, { retry_after_seconds: retryAfterSeconds });
}

const SCHEMA_KINDS: Record<TableSchemaFault, ErrorKind> = {
  malformed: 'invalid',
  missing: 'not-found',
  'too-large': 'invalid',
  unsupported: 'invalid',
  outside: 'invalid',
};

/** Failures that are the store's own trouble; all others are the secret's or the table's. */
const STORE_TROUBLE: ReadonlySet<ObjectStoreErrorCode> = new Set(['TIMEOUT', 'UNAVAILABLE', 'REFUSED']);

/** The refusal that it is when the columns or the DDL of a table cannot be told; any other error stays as it is. */
export function fromTableFiles(table: string, error: unknown): unknown {
  const message = (text: string) => `The table ${table}: ${text}`;
  if (error instanceof TableSchemaError) {
    const code = `TABLE.${error.fault.toUpperCase().replaceAll('-', '_')}`;
    return new DomainError(SCHEMA_KINDS[error.fault], code, message(error.message), {}, { cause: error });
  }
  if (!(error instanceof ObjectStoreError)) return error;
  const kind = STORE_TROUBLE.has(error.code) ? 'upstream' : 'invalid';
  return new DomainError(kind, `OBJECT_STORAGE.${error.code}`, message(error.message), {}, { cause: error });
}
