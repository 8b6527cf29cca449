import { Field } from '../../../platform/kernel/dto/fields';
import { About } from '../../../platform/kernel/dto/schemas';
import { requireRecord } from '../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../platform/http/resources/record-json';
import type { MetastoreCatalogTypeRecord, ReferenceData } from '../../foundation/reference-data';
import { type HiveFile, MetastoreCatalog } from './entities/metastore-catalog.entity';

/** Names of a Hive catalog's files in responses. */
const FILE_KEYS: Record<HiveFile, string> = {
  hiveSiteXml: 'HIVE-SITE.XML',
  coreSiteXml: 'CORE-SITE.XML',
  hdfsSiteXml: 'HDFS-SITE.XML',
  krb5Conf: 'KRB5.CONF',
};

@About('The type of a metastore.')
class MetastoreCatalogTypeRef {
  @Field.id({ nullable: true, description: 'Id of the type; null if there is no catalog' }) metastore_catalog_type_id:
    | number
    | null;
  @Field.text({ nullable: true, description: 'Name of the type; null if there is no catalog' }) name: string | null;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A reference to a metastore catalog.')
export class MetastoreCatalogRef {
  @Field.id({ nullable: true }) metastore_catalog_id: number | null;
  @Field.text({
    nullable: true,
    description: 'Name of the metastore catalog, unique in the tenant; null if there is no catalog',
  })
  metastore_catalog_name: string | null;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => MetastoreCatalogTypeRef, { description: 'The type of the metastore' })
  metastore_catalog_type: MetastoreCatalogTypeRef;
}

/** A metastore catalog without audit fields and sealed files. */
export type MetastoreCatalogData = Omit<Own<MetastoreCatalog>, 'sealed'>;

/**
 * Returns SQL for {@link MetastoreCatalogData} as one jsonb value, or null if the record has no catalog. Needs
 * {@link metastoreCatalogJoins} with the same alias.
 */
export function metastoreCatalogJson(mc = 'mc'): string {
  const catalog = recordJson(mc, MetastoreCatalog, { without: ['sealed'] });
  return `CASE WHEN ${mc}.metastore_catalog_id IS NOT NULL THEN ${catalog} END`;
}

/** Returns SQL that left-joins the catalog of record `t`. */
export function metastoreCatalogJoins(mc = 'mc'): string {
  return `LEFT JOIN metastore_catalogs ${mc} ON ${mc}.tenant_id = t.tenant_id
      AND ${mc}.metastore_catalog_id = t.metastore_catalog_id`;
}

export function metastoreCatalogRef(data: MetastoreCatalogData, referenceData: ReferenceData): MetastoreCatalogRef {
  return {
    metastore_catalog_id: data.metastore_catalog_id,
    metastore_catalog_name: data.name,
    description: data.description,
    metastore_catalog_type: catalogTypeOf(data, referenceData),
  };
}

export function catalogTypeOf(
  { metastore_catalog_type_id: id }: Pick<MetastoreCatalog, 'metastore_catalog_type_id'>,
  referenceData: ReferenceData,
): MetastoreCatalogTypeRecord {
  return requireRecord(referenceData.metastoreCatalogType(id), 'metastore catalog type', id);
}

/** Returns the details of a catalog that depend on its type. */
export function catalogDetails({ details }: Pick<MetastoreCatalog, 'details'>): object {
  return 'files' in details ? { hive_metastore_populated_keys: details.files.map((file) => FILE_KEYS[file]) } : details;
}
