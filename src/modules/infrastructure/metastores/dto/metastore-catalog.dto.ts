import { MAX_FILE_BYTES } from '../../../../../libs/metastore-clients/configuration-file';
import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { CATALOG_TYPES } from '../../../foundation/reference-data';

export class MetastoreCatalogSelector {
  @Param.id({ optional: false }) metastore_catalog_id: number;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_id };
  }
}

export class MetastoreCatalogListQuery extends PageQuery {
  @Param.id({ description: 'Only the catalog with this id' }) metastore_catalog_id?: number;
  @Param.oneOf(CATALOG_TYPES, { description: 'Only catalogs of this type' }) catalog_type?: string;
}

export class MetastoreCatalogSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) metastore_catalog_name: string;
  @Param.oneOf(CATALOG_TYPES, { description: 'Only catalogs of this type' }) catalog_type?: string;
}

const FILE = { minLength: 1, maxLength: MAX_FILE_BYTES };
const SITE = `Text of the file, at most ${MAX_FILE_BYTES / 1024} KiB. Jobs get the properties listed in docs/metastores.md.`;
const HIVE_SITE_XML = { ...FILE, description: `${SITE} hive.metastore.uris is required` };
const SITE_XML = { ...FILE, optional: true, description: SITE };
const KRB5_CONF = {
  ...FILE,
  optional: true,
  description: `Text of the file, at most ${MAX_FILE_BYTES / 1024} KiB: realms with their kdc, default_realm, domain_realm`,
};

@Example({
  name: 'example-hive',
  hiveSiteXml:
    '<configuration><property><name>hive.metastore.uris</name><value>thrift://metastore.example.org:9083</value></property></configuration>',
})
@About('A Hive metastore, described by its configuration files.')
export class CreateHiveCatalog {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.text(HIVE_SITE_XML) hiveSiteXml: string;
  @Field.text(SITE_XML) coreSiteXml?: string;
  @Field.text(SITE_XML) hdfsSiteXml?: string;
  @Field.text(KRB5_CONF) krb5Conf?: string;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a catalog of a Hive metastore; at least one. Absent fields keep their values; null removes a file.')
export class UpdateHiveCatalog {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.text({ ...HIVE_SITE_XML, optional: true }) hiveSiteXml?: string;
  @Field.text({ ...SITE_XML, nullable: true, description: `${SITE} Null removes it` }) coreSiteXml?: string | null;
  @Field.text({ ...SITE_XML, nullable: true, description: `${SITE} Null removes it` }) hdfsSiteXml?: string | null;
  @Field.text({ ...KRB5_CONF, nullable: true, description: `${KRB5_CONF.description}. Null removes it` }) krb5Conf?:
    | string
    | null;
}

@Example({ name: 'example-glue' })
@About('A catalog of AWS Glue. Account and region are in the secret that opens it.')
export class CreateGlueCatalog {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a catalog of AWS Glue; at least one. Absent fields keep their values.')
export class UpdateGlueCatalog {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
}

const MAX_ADDITIONAL = 100;
const UNITY_DESCRIPTION = { optional: true, nullable: true, minLength: 1, maxLength: 999 };
const ENDPOINT = { minLength: 1, maxLength: 1024, description: 'http or https, without user, query and fragment' };
const CATALOG = { minLength: 1, maxLength: 255, description: 'Name of a catalog of the metastore' };
const STORAGE_PATH = { minLength: 1, maxLength: 1024, description: 's3://, s3a://, gs:// or abfss:// and a path' };
const ADDITIONAL = { optional: true, unique: true, maxItems: MAX_ADDITIONAL, minItemLength: 1, maxItemLength: 255 };

@Example({
  name: 'example-unity',
  endpoint: 'https://workspace.example.org',
  default_catalog: 'main',
  storage_path: 's3://example-bucket/unity',
})
@About('A Unity Catalog server and the catalogs of it that jobs use.')
export class CreateUnityCatalog {
  @Field.name() name: string;
  @Field.text({ ...UNITY_DESCRIPTION, description: 'Free-text description, at most 999 characters; null for none' })
  description?: string | null;
  @Field.text({ ...ENDPOINT, description: 'Address of the server: http or https, without user, query and fragment' })
  endpoint: string;
  @Field.text({ ...CATALOG, description: 'Name of the catalog of the server that jobs use if they name none' })
  default_catalog: string;
  @Field.text({ ...STORAGE_PATH, description: 'Location of the tables: s3://, s3a://, gs:// or abfss:// and a path' })
  storage_path: string;
  @Field.texts({ ...ADDITIONAL, description: 'Names of further catalogs of the server that jobs can use, at most 100' })
  additional_catalogs?: string[];
}

@Example({ additional_catalogs: ['sales'] })
@About('Changes to a catalog of Unity Catalog; at least one. Absent fields keep their values.')
export class UpdateUnityCatalog {
  @Field.name({ optional: true }) name?: string;
  @Field.text({ ...UNITY_DESCRIPTION, description: 'Free-text description, at most 999 characters; null for none' })
  description?: string | null;
  @Field.text({
    ...ENDPOINT,
    optional: true,
    description: 'Address of the server: http or https, without user, query and fragment',
  })
  endpoint?: string;
  @Field.text({
    ...CATALOG,
    optional: true,
    description: 'Name of the catalog of the server that jobs use if they name none',
  })
  default_catalog?: string;
  @Field.texts({
    ...ADDITIONAL,
    description: 'Names of further catalogs of the server that jobs can use, at most 100; they replace the old ones',
  })
  additional_catalogs?: string[];
  @Field.text({
    ...STORAGE_PATH,
    optional: true,
    description: 'Location of the tables: s3://, s3a://, gs:// or abfss:// and a path',
  })
  storage_path?: string;
}

const DETAILS = {
  description:
    'HIVE: hive_metastore_populated_keys; DATABRICKS UNITY: endpoint, default_catalog, storage_path, additional_catalogs',
};

@About('A metastore catalog: how jobs and browsing reach the tables of a Hive metastore, AWS Glue or Unity Catalog.')
export class MetastoreCatalogRead extends ReadAudit {
  @Field.id() metastore_catalog_id: number;
  @Field.text({ description: 'Name of the metastore catalog, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(CATALOG_TYPES, { description: 'Type of the metastore. It never changes' }) catalog_type: string;
  @Field.map(DETAILS) metastore_details: object;
  @Field.uuid() tenant_id: string;
}

class CatalogWrite extends WriteAudit {
  @Field.idText() metastore_catalog_id: string;
  @Field.text({ description: 'Name of the metastore catalog, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(CATALOG_TYPES, { description: 'Type of the metastore. It never changes' }) catalog_type: string;
  @Field.uuid() tenant_id: string;
}

/** The response to an update, for all catalog types. */
@About('A metastore catalog as returned by a write. Ids are decimal strings.')
export class MetastoreCatalogWrite extends CatalogWrite {
  @Field.map(DETAILS) metastore_details: object;
}

@About('Fields specific to a Hive metastore.')
class HiveCatalogPart {
  @Field.idText({ description: 'The id of the catalog' }) metastore_hive_catalog_id: string;
  @Field.idText({
    nullable: true,
    description: 'Id of the secret of the tenant for the metastore; null if none is attached',
  })
  metastore_secrets_tenant_id: string | null;
  @Field.idText({
    nullable: true,
    description: 'Id of the secret of the tenant for the object store; null if none is attached',
  })
  object_storage_secrets_tenant_id: string | null;
}

@About('The new catalog of a Hive metastore. Ids are decimal strings.')
export class HiveCatalogWrite extends CatalogWrite {
  @Field.object(() => HiveCatalogPart, { description: 'Fields specific to the Hive metastore' })
  metastore_hive_catalog: HiveCatalogPart;
}

@About('Fields specific to AWS Glue.')
class GlueCatalogPart {
  @Field.idText({ description: 'The id of the catalog' }) metastore_glue_catalog_id: string;
}

@About('The new catalog of AWS Glue. Ids are decimal strings.')
export class GlueCatalogWrite extends CatalogWrite {
  @Field.object(() => GlueCatalogPart, { description: 'Fields specific to AWS Glue' })
  metastore_glue_catalog: GlueCatalogPart;
}

@About('Fields specific to Unity Catalog.')
class UnityCatalogPart {
  @Field.idText({ description: 'The id of the catalog' }) metastore_unity_catalog_id: string;
  @Field.text({ description: 'Address of the server' }) endpoint: string;
  @Field.text({ description: 'Name of the catalog of the server that jobs use if they name none' })
  default_catalog: string;
  @Field.text({ description: 'Location of the tables' }) storage_path: string;
  @Field.texts({ description: 'Names of further catalogs of the server that jobs can use' })
  additional_catalogs: string[];
}

@About('The new catalog of Unity Catalog. Ids are decimal strings.')
export class UnityCatalogWrite extends CatalogWrite {
  @Field.object(() => UnityCatalogPart, { description: 'Fields specific to Unity Catalog' })
  metastore_details: UnityCatalogPart;
}

export type NewCatalogWrite = HiveCatalogWrite | GlueCatalogWrite | UnityCatalogWrite;
