import { keyToWire } from '../../../../platform/kernel/product/product-name';
import type { ReferenceData, SparkInfraVersionRef } from '../../../foundation/reference-data';

/** Required capabilities of the Spark version by job type. Every version runs jobs of the other types. */
const REQUIRED = {
  NOTEBOOK: 'notebook_support',
  THRIFT_SQL: 'thrift_support',
  PLATFORM_FUNCTIONS: 'platform_functions_support',
} as const satisfies Record<string, keyof SparkInfraVersionRef>;

function runsJobType(version: SparkInfraVersionRef, jobType: string): boolean {
  const required = Object.entries(REQUIRED).find(([type]) => type === jobType)?.[1];
  // Lookups are stored with their wire names.
  return required === undefined || version[keyToWire(required) as typeof required];
}

/** Returns the ids of the Spark versions whose clusters can run jobs of the type, including closed versions. */
export function sparkVersionsFor(jobType: string, referenceData: ReferenceData): number[] {
  return [...referenceData.sparkInfraVersions()]
    .filter((version) => runsJobType(version, jobType))
    .map((version) => version.spark_infra_version_id);
}
