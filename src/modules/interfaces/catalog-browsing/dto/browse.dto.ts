import { Transform } from 'class-transformer';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { MAX_PAGE } from '../../../../platform/kernel/dto/page';

/** Maximum length of a full name: three quoted parts. */
export const MAX_FULL_NAME_LENGTH = 1600;
export const MAX_DDL = 100;
/** Maximum number of names to exclude from a list, limited by the length of URLs. */
const MAX_EXCLUDED = 1000;

const epoch = { nullable: true, description: 'Epoch milliseconds; null if the metastore does not provide it' };
const nullable = { nullable: true };

/** Splits at commas outside of backticks. A name that contains a comma is quoted, as by {@link fullName}. */
function toNames(value: unknown): unknown {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (!items.every((item) => typeof item === 'string')) return value;
  return items.flatMap((item) => item.match(/(?:`[^`]*`|[^,`]|`)+/g) ?? []);
}

class WorkspaceQuery {
  @Param.id({ optional: false, description: 'The workspace whose catalog secrets are used' }) workspace_id: number;
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
  @Param.text({ maxLength: 256 }) catalog_name?: string;
}

const SEARCHED_CATALOG = 'Required for a Unity metastore';

export class SearchBrowseSchemasQuery extends BrowseSchemasQuery {
  @Param.text({ maxLength: 256, description: SEARCHED_CATALOG }) override catalog_name?: string;
  @Param.text({ optional: false, maxLength: 256, description: 'Part of the name' }) schema_name: string;
}

export class BrowseTablesQuery extends BrowseSchemasQuery {
  @Param.text({ optional: false, maxLength: 256 }) schema_name: string;
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
  @Param.text({ optional: false, maxLength: 256 }) schema_name: string;
  @Param.text({ optional: false, maxLength: 256 }) table_name: string;
  @Param.text({ maxLength: 256 }) catalog_name?: string;
}

export class BrowsePartsQuery extends BrowseQuery {
  @Param.text({ maxLength: 256 }) catalog_name?: string;
  @Param.text({ maxLength: 256 }) schema_name?: string;
}

export class BrowseCatalog {
  @Field.text() name: string;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) storage_root: string | null;
  @Field.text(nullable) storage_location: string | null;
  @Field.text() full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text({ description: '`catalog`' }) type: string;
}

export class BrowseSchema {
  @Field.text() name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) comment: string | null;
  @Field.text() full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text({ description: '`schema`' }) type: string;
}

export class BrowseTable {
  @Field.text() name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text() schema_name: string;
  @Field.text(nullable) owner: string | null;
  @Field.text() full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text({ description: '`table`, or `view` if the metastore includes that in its list' }) type: string;
}

export class BrowseColumn {
  @Field.text() name: string;
  @Field.text({ description: 'Type in Spark SQL, such as `array<struct<id:bigint>>`' }) type_text: string;
  @Field.text({
    description:
      'Type without its inner types, such as `ARRAY`; for a Unity catalog the name that Unity uses, such as `LONG`',
  })
  type_name: string;
  @Field.int32({ description: 'Position of the column, starting at 0' }) position: number;
  @Field.text({ description: '`column`, or `partition` for a partition column' }) type: string;
}

export class BrowseFunction {
  @Field.text() name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text(nullable) schema_name: string | null;
  @Field.text(nullable) data_type: string | null;
  @Field.text(nullable) full_data_type: string | null;
  @Field.text(nullable) routine_body: string | null;
  @Field.text(nullable) routine_definition: string | null;
  @Field.text(nullable) parameter_style: string | null;
  @Field.boolean() is_deterministic: boolean;
  @Field.text(nullable) sql_data_access: string | null;
  @Field.text(nullable) security_type: string | null;
  @Field.text(nullable) specific_name: string | null;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) properties: string | null;
  @Field.text(nullable) metastore_id: string | null;
  @Field.text(nullable) full_name: string | null;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(nullable) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(nullable) updated_by: string | null;
  @Field.text(nullable) function_id: string | null;
  @Field.text(nullable) securable_type: string | null;
  @Field.text(nullable) securable_kind: string | null;
  @Field.text(nullable) icon_type: string | null;
}

export class BrowseVolume {
  @Field.text() name: string;
  @Field.text(nullable) catalog_name: string | null;
  @Field.text(nullable) schema_name: string | null;
  @Field.text(nullable) resource_name: string | null;
  @Field.text(nullable) volume_type: string | null;
  @Field.text(nullable) storage_location: string | null;
  @Field.text(nullable) owner: string | null;
  @Field.text(nullable) comment: string | null;
  @Field.text(nullable) full_name: string | null;
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
