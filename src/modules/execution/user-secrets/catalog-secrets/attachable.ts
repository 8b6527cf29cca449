import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import {
  type CatalogTypeName,
  type ReferenceData,
  SECRET_TYPE_ID,
  SECRET_TYPES,
  type SecretTypeRecord,
} from '../../../foundation/reference-data';

/** What a secret opens for a catalog. */
export type SecretRole = 'metastore' | 'storage';

/** Which secret types may open the metastore of a catalog of each type, and null where none does. */
const OPENS_METASTORE: Record<CatalogTypeName, ((type: SecretTypeRecord) => boolean) | null> = {
  HIVE: (type) => type.supportsHive,
  'DATABRICKS UNITY': (type) => type.supportsUnity,
  // Its secret is that of the store: both are called with the same keys.
  'AWS GLUE': null,
};

const opensStorage = (type: SecretTypeRecord) => type.supportsStorageType !== null;

/** Throws a 400 unless what a catalog of this type cannot be opened without is attached to it. */
export function assertOpens(catalogType: CatalogTypeName, secrets: Record<SecretRole, unknown>): void {
  const needed: SecretRole = OPENS_METASTORE[catalogType] ? 'metastore' : 'storage';
  if (secrets[needed] !== undefined && secrets[needed] !== null) return;
  throw invalid('CATALOG_SECRET.MISSING', `A catalog of type ${catalogType} needs a ${needed} secret.`, {
    catalog_type: catalogType,
  });
}

/** Throws a 400 that names the types that fit, unless the secret's is one of them. */
export function assertFits(
  catalogType: CatalogTypeName,
  role: SecretRole,
  secret: { name: string; secret_type_id: number },
  referenceData: ReferenceData,
): void {
  const fits = role === 'storage' ? opensStorage : OPENS_METASTORE[catalogType];
  if (!fits) {
    throw invalid(
      'CATALOG_SECRET.NO_METASTORE_SECRET',
      `A catalog of type ${catalogType} has no metastore secret: its storage secret opens both.`,
      { catalog_type: catalogType },
    );
  }
  const typeOf = (id: number) => requireRecord(referenceData.secretType(id), 'secret type', id);
  const type = typeOf(secret.secret_type_id);
  if (fits(type)) return;
  const fitting = SECRET_TYPES.filter((name) => fits(typeOf(SECRET_TYPE_ID[name])));
  throw invalid(
    'CATALOG_SECRET.TYPE_MISMATCH',
    `The secret "${secret.name}" is of type ${type.name}; the ${role} secret of a catalog of type ${catalogType} must be of type ${fitting.join(' or ')}.`,
    { secret_type: type.name, catalog_type: catalogType, secret_types: fitting },
  );
}
