import type { RunMetastore } from '../contracts/agent-protocol';

const ICEBERG = '1.10.1';
const ICEBERG_OF_SPARK_4 = '1.12.0';

const iceberg = (spark: string, version: string): string[] => [
  `org.apache.iceberg:iceberg-spark-runtime-${spark}:${version}`,
  `org.apache.iceberg:iceberg-aws-bundle:${version}`,
];

/**
 * Jars that a Spark lacks to reach a metastore, as Maven coordinates, by the first two numbers of its version. A Spark that is not
 * listed has no release of the libraries.
 */
const PACKAGES: Readonly<Record<'glue' | 'unity', Readonly<Record<string, readonly string[]>>>> = {
  glue: {
    '3.5': iceberg('3.5_2.12', ICEBERG),
    '4.1': iceberg('4.1_2.13', ICEBERG_OF_SPARK_4),
  },
  unity: {
    '3.5': ['io.unitycatalog:unitycatalog-spark_2.12:0.2.1', 'io.delta:delta-spark_2.12:3.3.2'],
  },
};

/** Returns the packages of a Spark for a metastore; none if it needs none, null if there are none for this Spark. */
export function metastorePackages(kind: RunMetastore['kind'], sparkVersion: string): readonly string[] | null {
  if (kind !== 'glue' && kind !== 'unity') return [];
  return PACKAGES[kind][/^\d+\.\d+/.exec(sparkVersion)?.[0] ?? ''] ?? null;
}
