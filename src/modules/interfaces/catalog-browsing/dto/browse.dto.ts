import { Transform } from 'class-transformer';
import type { Meanings } from '../../../../platform/kernel/dto/field-meanings';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About, FieldsMean } from '../../../../platform/kernel/dto/schemas';
import { MAX_PAGE } from '../../../../platform/kernel/dto/page';

/** Maximum length of a full name: three quoted parts. */
export const MAX_FULL_NAME_LENGTH = 1600;
export const MAX_DDL = 100;
/** Maximum number of names to exclude from a list, limited by the length of URLs. */
const MAX_EXCLUDED = 1000;

const epoch = { nullable: true };
const nullable = { nullable: true };

/** Splits at commas outside of backticks. A name that contains a comma is quoted, as by {@link fullName}. */
function toNames(value: unknown): unknown {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (!items.every((item) => typeof item === 'string')) return value;
  return items.flatMap((item) => item.match(/(?:`[^`]*`|[^,`]|`)+/g) ?? []);
}

const UNREPORTED = 'if the metastore does not report it';

/** Meanings of what a metastore reports. */
const REPORTED: Meanings = {
  owner: { is: 'Owner in the metastore', null: UNREPORTED },
  storage_root: { is: 'Location of the managed tables of the catalog', null: UNREPORTED },
  storage_location: { is: 'Location of the data', null: UNREPORTED },
  comment: { is: 'Comment in the metastore', null: UNREPORTED },
  catalog_name: { is: 'Name of the catalog', null: UNREPORTED },
  schema_name: { is: 'Name of the schema', null: UNREPORTED },
  created_by: { is: 'Who created it in the metastore', null: UNREPORTED },
  updated_by: { is: 'Who last changed it in the metastore', null: UNREPORTED },
  created_at: { is: 'When it was created in the metastore, in milliseconds since 1970', null: UNREPORTED },
  updated_at: { is: 'When it was last changed in the metastore, in milliseconds since 1970', null: UNREPORTED },
  data_type: { is: 'Type of the result', null: UNREPORTED },
  full_data_type: { is: 'Type of the result with its inner types', null: UNREPORTED },
  routine_body: { is: 'SQL or EXTERNAL', null: UNREPORTED },
  routine_definition: { is: 'Text of the function', null: UNREPORTED },
  parameter_style: { is: 'How parameters are passed', null: UNREPORTED },
  sql_data_access: { is: 'Whether the function reads data', null: UNREPORTED },
  security_type: { is: 'Whose privileges the function runs with', null: UNREPORTED },
  specific_name: { is: 'Specific name of the function', null: UNREPORTED },
  properties: { is: 'Properties as JSON', null: UNREPORTED },
  metastore_id: { is: 'Id of the metastore at Unity Catalog', null: UNREPORTED },
  function_id: { is: 'Id of the function at Unity Catalog', null: UNREPORTED },
  volume_id: { is: 'Id of the volume at Unity Catalog', null: UNREPORTED },
  schema_id: { is: 'Id of the schema at Unity Catalog', null: UNREPORTED },
  catalog_id: { is: 'Id of the catalog at Unity Catalog', null: UNREPORTED },
  resource_name: { is: 'Name of the resource at Unity Catalog', null: UNREPORTED },
  volume_type: { is: 'MANAGED or EXTERNAL', null: UNREPORTED },
  securable_type: { is: 'Type of the securable at Unity Catalog', null: UNREPORTED },
  securable_kind: { is: 'Kind of the securable at Unity Catalog', null: UNREPORTED },
  icon_type: { is: 'Icon for clients to show', null: UNREPORTED },
};

class WorkspaceQuery {
  @Param.id({ optional: false, description: 'Id of the workspace whose catalog secrets are used' })
  workspace_id: number;
}

/** Query of a list from a metastore. Returns the whole list if it requests no page. */
class BrowseQuery extends WorkspaceQuery {
  @Param.int32({
    min: 1,
    max: MAX_PAGE,
    description: 'Entries per page; the whole list if limit and pageNumber are absent',
  })
  limit?: number;

  @Param.int32({ min: 1, description: 'Number of the page, starting at 1; a page has 100 entries if limit is absent' })
  pageNumber?: number;

  @Param.boolean({ default: false, description: 'true reads the metastore instead of a cached list' })
  refresh: boolean = false;
}

export class BrowseCatalogsQuery extends BrowseQuery {}

export class SearchBrowseCatalogsQuery extends BrowseQuery {
  @Param.text({ optional: false, maxLength: 256, description: 'Part of the name' }) catalog_name: string;
}

export class BrowseSchemasQuery extends BrowseQuery {
  @Param.text({
    maxLength: 256,
    description: 'Name of the catalog of a Unity metastore; absent for its default one. Other metastores ignore it',
  })
  catalog_name?: string;
}

const SEARCHED_CATALOG = 'Required for a Unity metastore';

export class SearchBrowseSchemasQuery extends BrowseSchemasQuery {
  @Param.text({ maxLength: 256, description: SEARCHED_CATALOG }) override catalog_name?: string;
  @Param.text({ optional: false, maxLength: 256, description: 'Part of the name' }) schema_name: string;
}

export class BrowseTablesQuery extends BrowseSchemasQuery {
  @Param.text({ optional: false, maxLength: 256, description: 'Name of the schema' }) schema_name: string;
}

export class SearchBrowseTablesQuery extends BrowseTablesQuery {
  @Param.text({ maxLength: 256, description: SEARCHED_CATALOG }) override catalog_name?: string;
  @Param.text({ optional: false, maxLength: 256, description: 'Part of the name' }) table_name: string;
}

export class BrowseTableNamesQuery extends BrowseSchemasQuery {
  @Field.texts({
    optional: true,
    maxItems: MAX_EXCLUDED,
    maxItemLength: MAX_FULL_NAME_LENGTH,
    description: 'Full names of tables to exclude',
  })
  @Transform(({ value }: { value: unknown }) => toNames(value), { toClassOnly: true })
  cached_tables?: string[];
}

export class TableDdlQuery extends WorkspaceQuery {}

export class TableDdlByQuery extends WorkspaceQuery {
  @Field.texts({
    optional: true,
    maxItems: MAX_DDL,
    minItemLength: 1,
    maxItemLength: MAX_FULL_NAME_LENGTH,
    description: 'Full names of tables',
  })
  @Transform(({ value }: { value: unknown }) => toNames(value), { toClassOnly: true })
  cached_tables?: string[];
}

export class BrowseColumnsQuery extends WorkspaceQuery {
  @Param.text({ optional: false, maxLength: 256, description: 'Name of the schema' }) schema_name: string;
  @Param.text({ optional: false, maxLength: 256, description: 'Name of the table' }) table_name: string;
  @Param.text({
    maxLength: 256,
    description: 'Name of the catalog of a Unity metastore; absent for its default one. Other metastores ignore it',
  })
  catalog_name?: string;
}

export class BrowsePartsQuery extends BrowseQuery {
  @Param.text({
    maxLength: 256,
    description: 'Name of the catalog of a Unity metastore; absent for its default one. Other metastores ignore it',
  })
  catalog_name?: string;
  @Param.text({ maxLength: 256, description: 'Name of the schema; absent for every schema of the catalog' })
  schema_name?: string;
}

@FieldsMean(REPORTED)
@About('A catalog of a metastore.')
export class BrowseCatalog {
  @Field.text({ description: 'Name of the catalog' }) name: string;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) storage_root: string | null;
  @Field.text(nullable) storage_location: string | null;
  @Field.text({ description: 'Full name in SQL' }) full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text({ description: '`catalog`' }) type: string;
}

@FieldsMean(REPORTED)
@About('A schema, which is a database in Hive and Glue.')
export class BrowseSchema {
  @Field.text({ description: 'Name of the schema' }) name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) comment: string | null;
  @Field.text({ description: 'Full name in SQL, with the catalog if there is one' }) full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text({ description: '`schema`' }) type: string;
}

@FieldsMean(REPORTED)
@About('A table or view.')
export class BrowseTable {
  @Field.text({ description: 'Name of the table' }) name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text({ description: 'Name of the schema' }) schema_name: string;
  @Field.text(nullable) owner: string | null;
  @Field.text({ description: 'Full name in SQL, with the schema, and the catalog if there is one' })
  full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text({ description: '`table`, or `view` if the lists of the metastore say so' }) type: string;
}

@FieldsMean(REPORTED)
@About('A column of a table.')
export class BrowseColumn {
  @Field.text({ description: 'Name of the column' }) name: string;
  @Field.text({ description: 'Type in Spark SQL, such as `array<struct<id:bigint>>`' }) type_text: string;
  @Field.text({
    description:
      'Type without its inner types, such as `ARRAY`; for a Unity catalog the name that Unity uses, such as `LONG`',
  })
  type_name: string;
  @Field.int32({ description: 'Position of the column, starting at 0' }) position: number;
  @Field.text({ description: '`column`, or `partition` for a partition column' }) type: string;
  @Field.text(nullable) comment: string | null;
  @Field.boolean({ description: 'True if values may be null' }) nullable: boolean;
}

@FieldsMean(REPORTED)
@About('A table or view with its columns and properties.')
export class BrowseTableDetails extends BrowseTable {
  @Field.text(nullable) comment: string | null;
  @Field.text({
    nullable: true,
    description:
      'Format after USING in SQL, such as `delta`; `hive` for a table that uses Hive classes; null for a view',
  })
  format: string | null;
  @Field.text(nullable) storage_location: string | null;
  @Field.map({
    values: 'string',
    description:
      'Properties that users set, without those that Spark, Hive, Delta and Iceberg write. Values that look like secrets are hidden',
  })
  properties: Record<string, string>;
  @Field.objects(() => BrowseColumn, { description: 'Columns in their order' }) columns: BrowseColumn[];
}

@FieldsMean(REPORTED)
@About('A function of Unity Catalog.')
export class BrowseFunction {
  @Field.text({ description: 'Name of the function' }) name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text(nullable) schema_name: string | null;
  @Field.text(nullable) data_type: string | null;
  @Field.text(nullable) full_data_type: string | null;
  @Field.text(nullable) routine_body: string | null;
  @Field.text(nullable) routine_definition: string | null;
  @Field.text(nullable) parameter_style: string | null;
  @Field.boolean({ description: 'True if equal arguments always give equal results' }) is_deterministic: boolean;
  @Field.text(nullable) sql_data_access: string | null;
  @Field.text(nullable) security_type: string | null;
  @Field.text(nullable) specific_name: string | null;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) properties: string | null;
  @Field.text(nullable) metastore_id: string | null;
  @Field.text({
    ...nullable,
    description: 'Full name in SQL; null if the metastore does not report it',
  })
  full_name: string | null;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text(nullable) function_id: string | null;
  @Field.text(nullable) securable_type: string | null;
  @Field.text(nullable) securable_kind: string | null;
  @Field.text(nullable) icon_type: string | null;
}

@FieldsMean(REPORTED)
@About('A volume of Unity Catalog.')
export class BrowseVolume {
  @Field.text({ description: 'Name of the volume' }) name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text(nullable) schema_name: string | null;
  @Field.text(nullable) resource_name: string | null;
  @Field.text(nullable) volume_type: string | null;
  @Field.text(nullable) storage_location: string | null;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) comment: string | null;
  @Field.text({
    ...nullable,
    description: 'Full name in SQL; null if the metastore does not report it',
  })
  full_name: string | null;
  @Field.text(nullable) volume_id: string | null;
  @Field.text(nullable) metastore_id: string | null;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text(nullable) securable_type: string | null;
  @Field.text(nullable) securable_kind: string | null;
  @Field.text(nullable) schema_id: string | null;
  @Field.text(nullable) catalog_id: string | null;
  @Field.text(nullable) icon_type: string | null;
}
