import type {
  CatalogInfo,
  FunctionInfo,
  SchemaInfo,
  TableInfo,
  VolumeInfo,
} from '../../../../libs/metastore-clients/metastore-client';
import type { BrowseCatalog, BrowseFunction, BrowseSchema, BrowseTable, BrowseVolume } from './dto/browse.dto';
import { fullName } from './full-name';

/** Table types of views: `VIRTUAL_VIEW` in Hive and Glue, `VIEW` and `MATERIALIZED_VIEW` in Unity. */
const VIEW = /VIEW$/;

interface Authored {
  owner: string | null;
  createdAt: number | null;
  createdBy: string | null;
  updatedAt: number | null;
  updatedBy: string | null;
}

const authorship = ({ owner, createdAt, createdBy, updatedAt, updatedBy }: Authored) => ({
  owner,
  created_at: createdAt,
  created_by: createdBy,
  updated_at: updatedAt,
  updated_by: updatedBy,
});

export function catalogResponse(catalog: CatalogInfo): BrowseCatalog {
  return {
    name: catalog.name,
    owner: catalog.owner,
    storage_root: catalog.storageRoot,
    storage_location: catalog.storageLocation,
    full_name: fullName(catalog.name),
    created_at: catalog.createdAt,
    updated_at: catalog.updatedAt,
    updated_by: catalog.updatedBy,
    type: 'catalog',
  };
}

export function schemaResponse(schema: SchemaInfo): BrowseSchema {
  const { name, catalog, comment } = schema;
  const full_name = fullName(catalog, name);
  return { name, catalog_name: catalog, comment, full_name, ...authorship(schema), type: 'schema' };
}

export function tableResponse(table: TableInfo): BrowseTable {
  const { name, catalog, schema } = table;
  const type = VIEW.test(table.tableType ?? '') ? 'view' : 'table';
  const full_name = fullName(catalog, schema, name);
  return { name, catalog_name: catalog, schema_name: schema, full_name, ...authorship(table), type };
}

export function functionResponse(routine: FunctionInfo): BrowseFunction {
  const { name, catalog, schema } = routine;
  return {
    name,
    catalog_name: catalog,
    schema_name: schema,
    data_type: routine.dataType,
    full_data_type: routine.fullDataType,
    routine_body: routine.routineBody,
    routine_definition: routine.routineDefinition,
    parameter_style: routine.parameterStyle,
    is_deterministic: routine.isDeterministic,
    sql_data_access: routine.sqlDataAccess,
    security_type: routine.securityType,
    specific_name: routine.specificName,
    properties: routine.properties,
    metastore_id: routine.metastoreId,
    full_name: fullName(catalog, schema, name),
    ...authorship(routine),
    function_id: routine.functionId,
    securable_type: 'FUNCTION',
    securable_kind: null,
    icon_type: null,
  };
}

export function volumeResponse(volume: VolumeInfo): BrowseVolume {
  const { name, catalog, schema, comment } = volume;
  return {
    name,
    catalog_name: catalog,
    schema_name: schema,
    resource_name: null,
    volume_type: volume.volumeType,
    storage_location: volume.storageLocation,
    comment,
    full_name: fullName(catalog, schema, name),
    volume_id: volume.volumeId,
    metastore_id: volume.metastoreId,
    ...authorship(volume),
    securable_type: 'VOLUME',
    securable_kind: null,
    schema_id: null,
    catalog_id: null,
    icon_type: null,
  };
}
