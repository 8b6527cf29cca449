import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import {
  type CatalogTypeName,
  type ReferenceData,
  SECRET_TYPE_ID,
  SECRET_TYPES,
  type SecretTypeRecord,
} from '../../../foundation/reference-data';

/** The part of a catalog that a secret opens. */
export type SecretRole = 'metastore' | 'storage';

/** The secret types that open the metastore of each catalog type; null if the metastore has no secret of its own. */
const OPENS_METASTORE: Record<CatalogTypeName, ((type: SecretTypeRecord) => boolean) | null> = {
  HIVE: (type) => type.supportsHive,
  'DATABRICKS UNITY': (type) => type.supportsUnity,
  // Glue and the object store are called with the same keys, so the storage secret opens both.
  'AWS GLUE': null,
};

const opensStorage = (type: SecretTypeRecord) => type.supportsStorageType !== null;

/** Throws a 400 if the secret that a catalog of this type requires is missing. */
export function assertOpens(catalogType: CatalogTypeName, secrets: Record<SecretRole, unknown>): void {
  const required: SecretRole = OPENS_METASTORE[catalogType] ? 'metastore' : 'storage';
  if (secrets[required] !== undefined && secrets[required] !== null) return;
  throw invalid('CATALOG_SECRET.MISSING', `For a catalog of type ${catalogType}, a ${required} secret is required.`, {
    catalog_type: catalogType,
  });
}

/** Throws a 400 that lists the fitting types if the secret has another type. */
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
      `A catalog of type ${catalogType} has no metastore secret. Attach a storage secret, which opens both.`,
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
