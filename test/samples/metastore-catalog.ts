import { configurationXml } from '../harness/configuration-xml';
import type {
  CreateGlueCatalog,
  UpdateGlueCatalog,
} from '../../src/modules/infrastructure/metastores/dto/metastore-catalog.dto';
import type { MetastoreCatalog } from '../../src/modules/infrastructure/metastores/entities/metastore-catalog.entity';
import { sample } from './sample';

/** Types of catalogs in the reference data. */
export const CATALOG_TYPE = { hive: 1, unity: 2, glue: 3 } as const;

/** Returns the hive-site.xml of a catalog with these servers. */
export function hiveSite(uris = 'thrift://metastore.example.org:9083', more: Record<string, string> = {}): string {
  return configurationXml({ 'hive.metastore.uris': uris, ...more });
}

/** The fields of a Unity catalog besides its name. */
export const unityDetails = {
  endpoint: 'https://workspace.example.org',
  default_catalog: 'main',
  storage_path: 's3://bucket/path',
  additional_catalogs: [] as string[],
};

/** A catalog of AWS Glue, which has no details. */
export const metastoreCatalog = sample<CreateGlueCatalog, UpdateGlueCatalog, MetastoreCatalog>({
  path: '/metastore/catalog/glue',
  body: () => ({}),
  change: { description: 'changed' },
  row: () => ({ metastore_catalog_type_id: CATALOG_TYPE.glue, details: {} }),
});
