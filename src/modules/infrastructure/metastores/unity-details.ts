import { invalid } from '../../../platform/kernel/errors/domain-error';
import type { UnityCatalogDetails } from './entities/metastore-catalog.entity';

/** Names as Unity Catalog has them. */
const CATALOG_NAME = /^[^\s./\p{Cc}]{1,255}$/u;
const STORAGE_PATH = /^(s3a?|gs|abfss):\/\/[^\s\p{Cc}?#@/]+(@[^\s\p{Cc}?#@/]+)?(\/[^\s\p{Cc}?#]*)?$/u;

/** Throws a 400 for names and a path that Unity Catalog cannot have. The endpoint is checked elsewhere. */
export function assertUnityDetails(details: Omit<UnityCatalogDetails, 'endpoint'>): void {
  const { default_catalog: usual, additional_catalogs: additional, storage_path: path } = details;
  for (const name of [usual, ...additional]) {
    if (CATALOG_NAME.test(name)) continue;
    throw invalid(
      'METASTORE_CATALOG.INVALID_CATALOG_NAME',
      `The catalog name ${JSON.stringify(name)} has a blank, a dot, a slash or a control character.`,
    );
  }
  if (additional.includes(usual)) {
    throw invalid(
      'METASTORE_CATALOG.DUPLICATE_CATALOG',
      `The default catalog ${JSON.stringify(usual)} is among additional_catalogs, too.`,
    );
  }
  // Only Azure writes a container before the account; elsewhere that would be a user name.
  if (STORAGE_PATH.test(path) && path.includes('@') === path.startsWith('abfss://')) return;
  throw invalid(
    'METASTORE_CATALOG.INVALID_STORAGE_PATH',
    'The storage_path must be s3://bucket/path, s3a://bucket/path, gs://bucket/path or abfss://container@account.dfs.core.windows.net/path.',
  );
}
