import { keyToWire } from '../../../../platform/kernel/product/product-name';
import type { ReferenceData, SparkInfraVersionRef } from '../../../foundation/reference-data';

/** What a version of Spark must have for jobs of a type; every version runs those of the other types. */
const NEEDED = {
  NOTEBOOK: 'notebook_support',
  THRIFT_SQL: 'thrift_support',
  PLATFORM_FUNCTIONS: 'platform_functions_support',
} as const satisfies Record<string, keyof SparkInfraVersionRef>;

/** Whether clusters with this version of Spark can run jobs of the type. */
function runsJobType(version: SparkInfraVersionRef, jobType: string): boolean {
  const needed = Object.entries(NEEDED).find(([type]) => type === jobType)?.[1];
  // Lookups are kept as they are answered.
  return needed === undefined || version[keyToWire(needed) as typeof needed];
}

/** Ids of the versions of Spark, closed ones too, whose clusters can run jobs of the type. */
export function sparkVersionsFor(jobType: string, referenceData: ReferenceData): number[] {
  return [...referenceData.sparkInfraVersions()]
    .filter((version) => runsJobType(version, jobType))
    .map((version) => version.spark_infra_version_id);
}
