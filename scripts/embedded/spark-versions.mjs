import { pinnedVersion, REQUIREMENTS } from './requirements.mjs';

/**
 * A Spark that this release installs.
 * @typedef {object} SparkSet
 * @property {string} version
 * @property {import('./requirements.mjs').RequirementsName} name of its set of packages
 * @property {number} oldestPython minor version of the Python 3 that it needs
 */

/** The Sparks that can be installed, by version. @type {ReadonlyMap<string, SparkSet>} */
export const SPARK_SETS = new Map(
  /** @type {const} */ (['spark', 'spark-4.1', 'spark-4']).map((name) => {
    const version = pinnedVersion(name);
    return [version, { version, name, oldestPython: Number(REQUIREMENTS[name].python.split('.')[1]) }];
  }),
);

/** The Spark of the quickstart, unless SPARK_VERSION names another. */
export const DEFAULT_SPARK = pinnedVersion('spark');

export const NEWEST_SPARK = pinnedVersion('spark-4');

/**
 * Returns the variables of a worker that describe its Sparks.
 * @param {Pick<import('./runtime.mjs').Runtime, 'sparks' | 'installable' | 'sparkInstaller'>} runtime
 */
export function sparkVariables({ sparks, installable, sparkInstaller }) {
  /** @param {(spark: import('./runtime.mjs').Spark) => string | null} pathOf */
  const paths = (pathOf) =>
    sparks.flatMap((spark) => (pathOf(spark) === null ? [] : [`${spark.sparkVersion}=${pathOf(spark)}`])).join(',');
  return {
    COMPUTE_LOCAL_SPARK_HOMES: paths((spark) => spark.sparkHome),
    COMPUTE_LOCAL_CLASS_ARCHIVES: paths((spark) => spark.classArchive),
    COMPUTE_LOCAL_CONNECTORS: paths((spark) => spark.connectors),
    COMPUTE_LOCAL_SCALA_KERNELS: paths((spark) => spark.scalaKernel),
    COMPUTE_LOCAL_TURBO: paths((spark) => spark.turbo),
    COMPUTE_LOCAL_SPARK_INSTALLABLE: installable.join(','),
    COMPUTE_LOCAL_SPARK_INSTALLER: installable.length > 0 ? sparkInstaller : '',
  };
}
