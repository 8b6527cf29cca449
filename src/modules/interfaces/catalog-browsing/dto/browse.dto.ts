import { Transform } from 'class-transformer';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { MAX_PAGE } from '../../../../platform/kernel/dto/page';

/** Longest full name that is taken: three parts, quoted. */
export const MAX_FULL_NAME_LENGTH = 1600;
/** Tables whose DDL is generated for one request. */
export const MAX_DDL = 100;
/** Names that a list may leave out: what an address has room for. */
const MAX_EXCLUDED = 1000;

const epoch = { nullable: true, description: 'Epoch milliseconds; null where the metastore does not tell' };
const told = { nullable: true };

/** Commas outside of backticks divide; a name that holds one is quoted, as {@link fullName} does. */
function toNames(value: unknown): unknown {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (!items.every((item) => typeof item === 'string')) return value;
  return items.flatMap((item) => item.match(/(?:`[^`]*`|[^,`]|`)+/g) ?? []);
}

class WorkspaceQuery {
  @Param.id({ optional: false, description: 'Whose catalog secrets are used' }) workspace_id: number;
}

/** Query of what is listed from a metastore: the whole list, unless a page of it is asked for. */
class BrowseQuery extends WorkspaceQuery {
  @Param.int32({ min: 1, max: MAX_PAGE, description: 'Entries per page; the whole list without' })
  limit?: number;

  @Param.int32({ min: 1, description: 'Number of the page, starting at 1; pages have 100 entries without limit' })
  pageNumber?: number;

  @Param.boolean({ default: false, description: 'true reads the metastore anew' })
  refresh: boolean = false;
}

export class BrowseCatalogsQuery extends BrowseQuery {}

export class SearchBrowseCatalogsQuery extends BrowseQuery {
  @Param.text({ optional: false, maxLength: 256, description: 'Part of the name' }) catalog_name: string;
}

export class BrowseSchemasQuery extends BrowseQuery {
  @Param.text({ maxLength: 256 }) catalog_name?: string;
}

const SEARCHED_CATALOG = 'Required for Unity';

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
    description: 'Full names that are left out',
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
  @Field.text(told) owner: string | null;
  @Field.text(told) storage_root: string | null;
  @Field.text(told) storage_location: string | null;
  @Field.text() full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(told) updated_by: string | null;
  @Field.text({ description: '`catalog`' }) type: string;
}

export class BrowseSchema {
  @Field.text() name: string;
  @Field.text(told) catalog_name: string | null;
  @Field.text(told) owner: string | null;
  @Field.text(told) comment: string | null;
  @Field.text() full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(told) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(told) updated_by: string | null;
  @Field.text({ description: '`schema`' }) type: string;
}

export class BrowseTable {
  @Field.text() name: string;
  @Field.text(told) catalog_name: string | null;
  @Field.text() schema_name: string;
  @Field.text(told) owner: string | null;
  @Field.text() full_name: string;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(told) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(told) updated_by: string | null;
  @Field.text({ description: '`table`, or `view` where the metastore tells it with the list' }) type: string;
}

export class BrowseColumn {
  @Field.text() name: string;
  @Field.text({ description: 'In Spark SQL, such as `array<struct<id:bigint>>`' }) type_text: string;
  @Field.text({
    description:
      'Without the types inside it, such as `ARRAY`; for a Unity catalog, the name that Unity uses, such as `LONG`',
  })
  type_name: string;
  @Field.int32({ description: 'Starting at 0' }) position: number;
  @Field.text({ description: '`column`, or `partition` for a column that the table is partitioned by' }) type: string;
}

export class BrowseFunction {
  @Field.text() name: string;
  @Field.text(told) catalog_name: string | null;
  @Field.text(told) schema_name: string | null;
  @Field.text(told) data_type: string | null;
  @Field.text(told) full_data_type: string | null;
  @Field.text(told) routine_body: string | null;
  @Field.text(told) routine_definition: string | null;
  @Field.text(told) parameter_style: string | null;
  @Field.boolean() is_deterministic: boolean;
  @Field.text(told) sql_data_access: string | null;
  @Field.text(told) security_type: string | null;
  @Field.text(told) specific_name: string | null;
  @Field.text(told) owner: string | null;
  @Field.text(told) properties: string | null;
  @Field.text(told) metastore_id: string | null;
  @Field.text(told) full_name: string | null;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(told) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(told) updated_by: string | null;
  @Field.text(told) function_id: string | null;
  @Field.text(told) securable_type: string | null;
  @Field.text(told) securable_kind: string | null;
  @Field.text(told) icon_type: string | null;
}

export class BrowseVolume {
  @Field.text() name: string;
  @Field.text(told) catalog_name: string | null;
  @Field.text(told) schema_name: string | null;
  @Field.text(told) resource_name: string | null;
  @Field.text(told) volume_type: string | null;
  @Field.text(told) storage_location: string | null;
  @Field.text(told) owner: string | null;
  @Field.text(told) comment: string | null;
  @Field.text(told) full_name: string | null;
  @Field.text(told) volume_id: string | null;
  @Field.text(told) metastore_id: string | null;
  @Field.int64(epoch) created_at: number | null;
  @Field.text(told) created_by: string | null;
  @Field.int64(epoch) updated_at: number | null;
  @Field.text(told) updated_by: string | null;
  @Field.text(told) securable_type: string | null;
  @Field.text(told) securable_kind: string | null;
  @Field.text(told) schema_id: string | null;
  @Field.text(told) catalog_id: string | null;
  @Field.text(told) icon_type: string | null;
}
