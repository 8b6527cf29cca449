import { MAX_FILE_BYTES } from '../../../../../libs/metastore-clients/configuration-file';
import { ReadAudit, WriteAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { Example } from '../../../../platform/kernel/dto/schemas';
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
  @Param.id() metastore_catalog_id?: number;
  @Param.oneOf(CATALOG_TYPES) catalog_type?: string;
}

export class MetastoreCatalogSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) metastore_catalog_name: string;
  @Param.oneOf(CATALOG_TYPES) catalog_type?: string;
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
export class CreateHiveCatalog {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.text(HIVE_SITE_XML) hiveSiteXml: string;
  @Field.text(SITE_XML) coreSiteXml?: string;
  @Field.text(SITE_XML) hdfsSiteXml?: string;
  @Field.text(KRB5_CONF) krb5Conf?: string;
}

@Example({ description: 'Changed by an example' })
export class UpdateHiveCatalog {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.text({ ...HIVE_SITE_XML, optional: true }) hiveSiteXml?: string;
  @Field.text({ ...SITE_XML, nullable: true }) coreSiteXml?: string | null;
  @Field.text({ ...SITE_XML, nullable: true }) hdfsSiteXml?: string | null;
  @Field.text({ ...KRB5_CONF, nullable: true }) krb5Conf?: string | null;
}

@Example({ name: 'example-glue' })
export class CreateGlueCatalog {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@Example({ description: 'Changed by an example' })
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
export class CreateUnityCatalog {
  @Field.name() name: string;
  @Field.text(UNITY_DESCRIPTION) description?: string | null;
  @Field.text(ENDPOINT) endpoint: string;
  @Field.text(CATALOG) default_catalog: string;
  @Field.text(STORAGE_PATH) storage_path: string;
  @Field.texts(ADDITIONAL) additional_catalogs?: string[];
}

@Example({ additional_catalogs: ['sales'] })
export class UpdateUnityCatalog {
  @Field.name({ optional: true }) name?: string;
  @Field.text(UNITY_DESCRIPTION) description?: string | null;
  @Field.text({ ...ENDPOINT, optional: true }) endpoint?: string;
  @Field.text({ ...CATALOG, optional: true }) default_catalog?: string;
  @Field.texts(ADDITIONAL) additional_catalogs?: string[];
  @Field.text({ ...STORAGE_PATH, optional: true }) storage_path?: string;
}

const DETAILS = {
  description:
    'HIVE: hive_metastore_populated_keys; DATABRICKS UNITY: endpoint, default_catalog, storage_path, additional_catalogs',
};

export class MetastoreCatalogRead extends ReadAudit {
  @Field.id() metastore_catalog_id: number;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(CATALOG_TYPES) catalog_type: string;
  @Field.map(DETAILS) metastore_details: object;
  @Field.uuid() tenant_id: string;
}

class CatalogWrite extends WriteAudit {
  @Field.idText() metastore_catalog_id: string;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(CATALOG_TYPES) catalog_type: string;
  @Field.uuid() tenant_id: string;
}

/** The response to an update, for all catalog types. */
export class MetastoreCatalogWrite extends CatalogWrite {
  @Field.map(DETAILS) metastore_details: object;
}

class HiveCatalogPart {
  @Field.idText({ description: 'The id of the catalog' }) metastore_hive_catalog_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_tenant_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_tenant_id: string | null;
}

export class HiveCatalogWrite extends CatalogWrite {
  @Field.object(() => HiveCatalogPart) metastore_hive_catalog: HiveCatalogPart;
}

class GlueCatalogPart {
  @Field.idText({ description: 'The id of the catalog' }) metastore_glue_catalog_id: string;
}

export class GlueCatalogWrite extends CatalogWrite {
  @Field.object(() => GlueCatalogPart) metastore_glue_catalog: GlueCatalogPart;
}

class UnityCatalogPart {
  @Field.idText({ description: 'The id of the catalog' }) metastore_unity_catalog_id: string;
  @Field.text() endpoint: string;
  @Field.text() default_catalog: string;
  @Field.text() storage_path: string;
  @Field.texts() additional_catalogs: string[];
}

export class UnityCatalogWrite extends CatalogWrite {
  @Field.object(() => UnityCatalogPart) metastore_details: UnityCatalogPart;
}

export type NewCatalogWrite = HiveCatalogWrite | GlueCatalogWrite | UnityCatalogWrite;
