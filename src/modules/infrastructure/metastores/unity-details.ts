import { invalid } from '../../../platform/kernel/errors/domain-error';
import type { UnityCatalogDetails } from './entities/metastore-catalog.entity';

/** Names that Unity Catalog allows. */
const CATALOG_NAME = /^[^\s./\p{Cc}]{1,255}$/u;
const STORAGE_PATH = /^(s3a?|gs|abfss):\/\/[^\s\p{Cc}?#@/]+(@[^\s\p{Cc}?#@/]+)?(\/[^\s\p{Cc}?#]*)?$/u;

/**
 * Throws 400 for catalog names or a storage path that Unity Catalog does not allow. The endpoint is not checked here.
 */
export function assertUnityDetails(details: Omit<UnityCatalogDetails, 'endpoint'>): void {
  const { default_catalog: defaultCatalog, additional_catalogs: additional, storage_path: path } = details;
  for (const name of [defaultCatalog, ...additional]) {
    if (CATALOG_NAME.test(name)) continue;
    throw invalid(
      'METASTORE_CATALOG.INVALID_CATALOG_NAME',
      `The catalog name ${JSON.stringify(name)} must not contain white space, dots, slashes or control characters.`,
    );
  }
  if (additional.includes(defaultCatalog)) {
    throw invalid(
      'METASTORE_CATALOG.DUPLICATE_CATALOG',
      `additional_catalogs must not contain the default catalog ${JSON.stringify(defaultCatalog)}.`,
    );
  }
  // An @ separates container and account for Azure; for other stores it would mark a user name.
  if (STORAGE_PATH.test(path) && path.includes('@') === path.startsWith('abfss://')) return;
  throw invalid(
    'METASTORE_CATALOG.INVALID_STORAGE_PATH',
    'storage_path must be s3://bucket/path, s3a://bucket/path, gs://bucket/path or abfss://container@account.dfs.core.windows.net/path.',
  );
}
