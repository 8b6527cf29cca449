import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Makes a folder with the PySpark of an installation and nothing else of its environment.
 * @param {string} sparkHome a distribution of Spark, or the package of PySpark
 * @param {string} folder where to make it
 * @returns {string} a PYTHONPATH
 */
export function pysparkModules(sparkHome, folder) {
  const library = join(sparkHome, 'python', 'lib');
  const inDistribution = join(sparkHome, 'python', 'pyspark', 'sql');
  const links = { pyspark: existsSync(inDistribution) ? dirname(inDistribution) : sparkHome };
  const installed = join(dirname(sparkHome), 'py4j');
  const archive = readdirSync(library).find((name) => /^py4j-.*\.zip$/.test(name));
  if (!existsSync(installed) && archive === undefined) throw new Error(`There is no Py4J in ${sparkHome}.`);
  mkdirSync(folder, { recursive: true });
  for (const [name, target] of Object.entries({ ...links, ...(existsSync(installed) && { py4j: installed }) })) {
    if (!existsSync(join(folder, name))) symlinkSync(target, join(folder, name));
  }
  return existsSync(installed) || archive === undefined ? folder : [folder, join(library, archive)].join(':');
}
