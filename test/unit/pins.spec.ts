import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readReferenceDataFiles } from '../../src/modules/foundation/reference-data/reference-data-files';

const root = join(__dirname, '..', '..');
const folder = join(root, 'scripts', 'embedded', 'requirements');
const sets = readdirSync(folder)
  .filter((name) => name.endsWith('.in'))
  .map((name) => name.slice(0, -'.in'.length));

function read(...path: string[]): string {
  return readFileSync(join(root, ...path), 'utf8');
}

/** Returns the requirements of a file, one per line, without comments. */
function requirements(file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8').replaceAll('\\\n', ' ');
  return text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** Returns the only version of a package in a lock file. */
function pinned(set: string, name: string): string {
  const versions = requirements(`${set}.txt`).flatMap((line) => (line.startsWith(`${name}==`) ? [line] : []));
  expect(versions).toHaveLength(1);
  return /==(\S+)/.exec(versions[0] ?? '')?.[1] ?? '';
}

function filesUnder(path: string): string[] {
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
}

describe.each(sets)('Python packages of the set %s', (set) => {
  it('have exact versions and hashes', () => {
    const locked = requirements(`${set}.txt`);
    expect(locked).not.toEqual([]);
    const pattern = /^[\w.-]+==[\w.!+]+( ; [^;]+?)?( +--hash=sha256:[0-9a-f]{64})+$/;
    expect(locked.filter((line) => !pattern.test(line))).toEqual([]);
  });

  it('satisfy the direct requirements', () => {
    const locked = requirements(`${set}.txt`);
    for (const wanted of requirements(`${set}.in`)) {
      const [, name = '', version] = /^([\w-]+)(?:\[\w+\])?(?:==(\S+))?/.exec(wanted) ?? [];
      const start = version ? `${name}==${version} ` : `${name}==`;
      expect(locked.filter((line) => line.startsWith(start))).not.toEqual([]);
    }
  });
});

describe('pins', () => {
  it('name no registry', () => {
    const files = filesUnder('scripts/embedded').filter((name) => /requirements\/|azurite\/|node\//.test(name));
    expect(files.filter((name) => /https?:\/\/(pypi|files\.pythonhosted|registry\.)/.test(read(name)))).toEqual([]);
  });

  it('fix the versions of cloud SDKs: the newest need a newer Node, and another version sends other requests', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const sdks = Object.entries(dependencies).filter(([name]) =>
      /^(@aws-sdk|@azure|@google-cloud|@googleapis)\/|^oci-/.test(name),
    );
    expect(sdks.length).toBeGreaterThan(8);
    expect(sdks.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('are in no other file', () => {
    const scripts = filesUnder('scripts').filter((name) => name.endsWith('.mjs'));
    expect(scripts.filter((name) => /[\w\]]==\d/.test(read(name)))).toEqual([]);
    expect(read('docker', 'spark-node.Dockerfile')).not.toMatch(/[\w\]]==[\d"$]/);
  });

  const locks = ['azurite', 'node'].map((name) => `scripts/embedded/${name}/package-lock.json`);
  it.each(['package-lock.json', ...locks])('of %s have a checksum for Linux on x64 and arm64', (file) => {
    type Locked = { integrity?: string; link?: boolean; os?: string[]; cpu?: string[] };
    const { packages } = JSON.parse(read(file)) as { packages: Record<string, Locked> };
    const isForUs = ({ os = ['linux'], cpu = ['x64', 'arm64'] }: Locked) =>
      os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64'));
    // Workspaces are no downloads: npm links their folders.
    const fetched = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
    const unchecked = fetched.filter(([, locked]) => isForUs(locked) && !locked.integrity?.startsWith('sha512-'));
    expect(unchecked.map(([path]) => path)).toEqual([]);
  });

  it('work without install scripts of packages', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });
});

describe('Node', () => {
  it('has the same major version in the images and in the scripts', () => {
    const { optionalDependencies } = JSON.parse(read('scripts', 'embedded', 'node', 'package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const versions = [...new Set(Object.values(optionalDependencies))];
    expect(versions).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    for (const name of ['Dockerfile', 'spark-node.Dockerfile'])
      expect(/^ARG NODE_VERSION=(\d+)$/m.exec(read('docker', name))?.[1]).toBe(versions[0]?.split('.')[0]);
  });
});

describe.each(['spark', 'spark-4.1', 'spark-4'])('Spark of the set %s', (set) => {
  const version = pinned(set, 'pyspark');
  const offered = readReferenceDataFiles().rows.spark_infra_versions.filter((row) => row.spark_version === version);
  const newest = offered.at(-1);

  it('has a version that clusters offer', () => {
    expect(newest).toMatchObject({ spark_version: version });
  });

  it('has connectors for its Hadoop', () => {
    const jars = read('scripts', 'connectors', 'hadoop-jars.mjs');
    const hadoop = newest?.hadoop_version ?? '';
    expect(jars).toContain(`  '${hadoop}': {\n    'org/apache/hadoop/hadoop-aws/${hadoop}/hadoop-aws-${hadoop}.jar':`);
  });

  it('has the turbo version of the lookups', () => {
    const turbo = read('scripts', 'turbo', 'turbo.mjs');
    const line = version.split('.').slice(0, 2).join('.');
    const scala = newest?.scala_version.split('.').slice(0, 2).join('.');
    const jar = new RegExp(`/comet-spark-spark${line}_${scala}-([\\d.]+)\\.jar'`).exec(turbo);
    expect(jar?.[1] ?? null).toBe(newest?.turbo_version);
  });
});

describe('Spark', () => {
  const version = pinned('spark', 'pyspark');

  it('has one version in images, examples and code', () => {
    const named = (text: string) => [...new Set([...text.matchAll(/(\d+\.\d+\.\d+)=\/opt/g)].map((match) => match[1]))];
    expect(named(read('docker', 'spark-node.Dockerfile'))).toEqual([version]);
    expect(named(read('.env.example'))).toEqual([version]);
  });

  it('is installed in the image with hashes', () => {
    const dockerfile = read('docker', 'spark-node.Dockerfile');
    const installs = dockerfile.split('\n').filter((line) => /pip install|\$pip/.test(line));
    expect(installs).not.toEqual([]);
    for (const line of installs) expect(line).toMatch(/--require-hashes|\$pip -r/);
  });
});
