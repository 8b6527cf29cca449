import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../platform/http/resources/record-kind';

/** The files of a Hive catalog, named like the fields of requests. */
export const HIVE_FILES = ['hiveSiteXml', 'coreSiteXml', 'hdfsSiteXml', 'krb5Conf'] as const;
export type HiveFile = (typeof HIVE_FILES)[number];

export interface UnityCatalogDetails {
  endpoint: string;
  default_catalog: string;
  storage_path: string;
  additional_catalogs: string[];
}

/** Visible details by catalog type: the names of a Hive catalog's files, or the location of a Unity catalog. */
export type CatalogDetails = { files: HiveFile[] } | UnityCatalogDetails | Record<string, never>;

/** A metastore that a tenant's clusters and users read tables from. */
@Entity('metastore_catalogs')
@Unique('uq_metastore_catalogs_tenant_id', ['tenant_id', 'metastore_catalog_id'])
@Index('uq_metastore_catalogs_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_metastore_catalogs_list', ['tenant_id', 'metastore_catalog_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_metastore_catalogs_name_part', 'name', { where: CURRENT })
@RecordKind({ code: 'METASTORE_CATALOG', label: 'metastore catalog' })
export class MetastoreCatalog extends TenantColumns {
  @Col.identity('pk_metastore_catalogs') metastore_catalog_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('MetastoreCatalogType', { name: 'fk_metastore_catalogs_type' })
  @Col.int()
  metastore_catalog_type_id: number;
  @Col.json() details: CatalogDetails;
  /** Incremented when the catalog changes to other servers, so that secrets attached before are not sent there. */
  @Col.int({ default: 1 }) place_version: number;
  /**
   * The files of a Hive catalog, which may contain passwords, sealed with the tenant's data key and bound to this row.
   */
  @Col.bytes({ nullable: true }) sealed: Buffer | null;
}
