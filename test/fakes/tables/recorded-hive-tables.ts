import type { HiveTable } from './hive-table';

/** Tables that Spark 3.5.9 created, as Hive's metastore stored them. */
export const RECORDED = {
  bucketed: {
    tableName: 'bucketed',
    dbName: 'default',
    owner: 'anna',
    createTime: 1795448276,
    sd: {
      cols: [
        {
          name: 'a',
          type: 'int',
        },
        {
          name: 'b',
          type: 'string',
        },
      ],
      location: 'file:/data/wh/hb',
      inputFormat: 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat',
      numBuckets: 4,
      serdeInfo: {
        serializationLib: 'org.apache.hadoop.hive.ql.io.orc.OrcSerde',
        parameters: {
          'serialization.format': '1',
        },
      },
      bucketCols: ['a'],
      sortCols: [
        {
          col: 'a',
          order: 1,
        },
      ],
    },
    partitionKeys: [],
    parameters: {
      'spark.sql.sources.schema.bucketCol.0': 'a',
      'spark.sql.sources.schema.sortCol.0': 'a',
      'spark.sql.sources.schema.numBuckets': '4',
      transient_lastDdlTime: '1795448276',
      'spark.sql.sources.schema':
        '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}},{"name":"B","type":"string","nullable":true,"metadata":{}}]}',
      'spark.sql.sources.schema.numBucketCols': '1',
      'spark.sql.sources.schema.numSortCols': '1',
      'spark.sql.create.version': '3.5.9',
    },
    tableType: 'MANAGED_TABLE',
  },
  text: {
    tableName: 'text',
    dbName: 'default',
    owner: 'anna',
    createTime: 1795448275,
    sd: {
      cols: [
        {
          name: 'a',
          type: 'int',
        },
        {
          name: 's',
          type: 'struct<A:int>',
        },
      ],
      location: 'file:/data/wh/ht',
      inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
      numBuckets: -1,
      serdeInfo: {
        serializationLib: 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe',
        parameters: {
          'serialization.format': '|',
          'field.delim': '|',
        },
      },
      bucketCols: [],
      sortCols: [],
    },
    partitionKeys: [],
    parameters: {
      transient_lastDdlTime: '1795448275',
      comment: 'n\nl',
      'spark.sql.sources.schema':
        '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}},{"name":"s","type":{"type":"struct","fields":[{"name":"A","type":"integer","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}]}',
      'spark.sql.create.version': '3.5.9',
    },
    tableType: 'MANAGED_TABLE',
  },
  spark: {
    tableName: 'spark',
    dbName: 'default',
    owner: 'anna',
    createTime: 1795448277,
    sd: {
      cols: [
        {
          name: 'a',
          type: 'int',
          comment: 'c',
        },
        {
          name: 'v',
          type: 'varchar(5)',
        },
        {
          name: 'nest',
          type: 'struct<a:struct<b:array<struct<c:int>>>>',
        },
        {
          name: 'd',
          type: 'int',
        },
      ],
      location: 'file:/data/wh/sp',
      inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
      numBuckets: -1,
      serdeInfo: {
        serializationLib: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
        parameters: {
          path: 'file:/data/wh/sp',
          compression: 'gzip',
          'serialization.format': '1',
        },
      },
      bucketCols: [],
      sortCols: [],
    },
    partitionKeys: [
      {
        name: 'p',
        type: 'string',
      },
    ],
    parameters: {
      'spark.sql.sources.schema.bucketCol.0': 'a',
      'spark.sql.sources.schema.sortCol.0': 'v',
      'spark.sql.sources.schema.partCol.0': 'p',
      transient_lastDdlTime: '1795448277',
      k: 'v',
      'spark.sql.create.version': '3.5.9',
      'spark.sql.sources.schema.numBuckets': '2',
      'spark.sql.sources.schema.numPartCols': '1',
      comment: 'tc',
      'spark.sql.sources.schema':
        '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{"comment":"c"}},{"name":"v","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}},{"name":"nest","type":{"type":"struct","fields":[{"name":"a","type":{"type":"struct","fields":[{"name":"b","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"c","type":"integer","nullable":true,"metadata":{"comment":"deep"}}]},"containsNull":true},"nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},{"name":"d","type":"integer","nullable":true,"metadata":{"EXISTS_DEFAULT":"5","CURRENT_DEFAULT":"5"}},{"name":"p","type":"string","nullable":true,"metadata":{}}]}',
      'spark.sql.partitionProvider': 'catalog',
      'spark.sql.sources.schema.numBucketCols': '1',
      'spark.sql.sources.schema.numSortCols': '1',
      'spark.sql.sources.provider': 'parquet',
    },
    tableType: 'MANAGED_TABLE',
  },
  csv: {
    tableName: 'csv',
    dbName: 'default',
    owner: 'anna',
    createTime: 1795448278,
    sd: {
      cols: [
        {
          name: 'col',
          type: 'array<string>',
          comment: 'from deserializer',
        },
      ],
      location: 'file:/data/wh/csvt-__PLACEHOLDER__',
      inputFormat: 'org.apache.hadoop.mapred.SequenceFileInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat',
      numBuckets: -1,
      serdeInfo: {
        serializationLib: 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe',
        parameters: {
          path: 'file:/data/csv',
          header: 'true',
          'serialization.format': '1',
          sep: '|',
        },
      },
      bucketCols: [],
      sortCols: [],
    },
    partitionKeys: [],
    parameters: {
      transient_lastDdlTime: '1795448278',
      'spark.sql.sources.schema':
        '{"type":"struct","fields":[{"name":"a b","type":"integer","nullable":true,"metadata":{}},{"name":"ü","type":"string","nullable":true,"metadata":{}}]}',
      EXTERNAL: 'TRUE',
      'spark.sql.sources.provider': 'csv',
      'spark.sql.create.version': '3.5.9',
    },
    tableType: 'EXTERNAL_TABLE',
  },
  view: {
    tableName: 'view',
    dbName: 'default',
    owner: 'anna',
    createTime: 1795448279,
    sd: {
      cols: [
        {
          name: 'x',
          type: 'int',
          comment: 'xc',
        },
        {
          name: 'y',
          type: 'string',
        },
      ],
      inputFormat: 'org.apache.hadoop.mapred.SequenceFileInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat',
      numBuckets: -1,
      serdeInfo: {
        serializationLib: 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe',
        parameters: {
          'serialization.format': '1',
        },
      },
      bucketCols: [],
      sortCols: [],
    },
    partitionKeys: [],
    parameters: {
      'view.sqlConfig.spark.sql.parquet.fieldId.write.enabled': 'true',
      'view.query.out.col.0': 'a',
      'view.sqlConfig.spark.sql.parquet.fieldId.read.enabled': 'true',
      'view.catalogAndNamespace.numParts': '2',
      'view.query.out.col.1': 'B',
      'view.referredTempViewNames': '[]',
      transient_lastDdlTime: '1795448279',
      'view.catalogAndNamespace.part.1': 'default',
      k: 'v',
      'spark.sql.create.version': '3.5.9',
      'view.sqlConfig.spark.sql.session.timeZone': 'Etc/UTC',
      'view.catalogAndNamespace.part.0': 'spark_catalog',
      'view.query.out.numCols': '2',
      'view.sqlConfig.spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
      comment: 'vc',
      'spark.sql.sources.schema':
        '{"type":"struct","fields":[{"name":"x","type":"integer","nullable":true,"metadata":{"comment":"xc"}},{"name":"y","type":"string","nullable":true,"metadata":{}}]}',
      'view.referredTempFunctionsNames': '[]',
    },
    viewOriginalText: 'select a, B from hb',
    tableType: 'VIRTUAL_VIEW',
  },
} satisfies Record<string, HiveTable>;
