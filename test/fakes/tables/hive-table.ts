import type { ColumnInfo, Table } from '../../../libs/metastore-clients/metastore-client';

interface HiveColumn {
  name: string;
  type: string;
  comment?: string;
}

/** A table as Hive's metastore stores it, with the names of its Thrift interface. */
export interface HiveTable {
  tableName: string;
  dbName: string;
  owner?: string;
  createTime: number;
  tableType: string;
  parameters: Record<string, string>;
  partitionKeys: HiveColumn[];
  viewOriginalText?: string;
  sd: {
    cols: HiveColumn[];
    location?: string;
    inputFormat?: string;
    outputFormat?: string;
    numBuckets: number;
    serdeInfo: { serializationLib?: string; parameters: Record<string, string> };
    bucketCols: string[];
    sortCols: { col: string; order: number }[];
  };
}

/** Returns the table as a client of Hive's metastore shows it. */
export function tableOfHive({ sd, ...table }: HiveTable): Table {
  const isView = table.tableType === 'VIRTUAL_VIEW';
  return {
    catalog: null,
    schema: table.dbName,
    name: table.tableName,
    tableType: table.tableType,
    owner: table.owner ?? null,
    createdAt: table.createTime * 1000,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
    comment: table.parameters['comment'] ?? null,
    columns: sd.cols.map(columnOf),
    partitionColumns: table.partitionKeys.map(columnOf),
    location: isView ? null : (sd.location ?? null),
    dataSourceFormat: null,
    inputFormat: sd.inputFormat ?? null,
    outputFormat: sd.outputFormat ?? null,
    serde: sd.serdeInfo.serializationLib ?? null,
    serdeProperties: sd.serdeInfo.parameters,
    bucketColumns: sd.bucketCols,
    sortColumns: sd.sortCols.map(({ col, order }) => ({ name: col, ascending: order === 1 })),
    buckets: sd.numBuckets,
    properties: table.parameters,
    viewText: isView ? (table.viewOriginalText ?? null) : null,
  };
}

function columnOf({ name, type, comment }: HiveColumn): ColumnInfo {
  return { name, type, comment: comment ?? null };
}
