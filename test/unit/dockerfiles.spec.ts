import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const ALLOWED = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1).replace(/\/$/, ''));

/** The project's files in an image, by their path in the image. */
type Files = Map<string, string>;

interface Script {
  path: string;
  files: Files;
}

/** Returns every project file that a command names during the build of an image, with the files that exist at that step. */
function scriptsOf(dockerfile: string): Script[] {
  const stages = new Map<string, Files>();
  const scripts: Script[] = [];
  let files: Files = new Map();
  let folder = '/';
  const instructions: Record<string, (words: string[]) => void> = {
    FROM: ([from = '', ...rest]) => {
      files = new Map(stages.get(from));
      stages.set(rest.at(-1) ?? from, files);
    },
    WORKDIR: ([path = '/']) => (folder = path),
    COPY: (words) => copy(files, words, folder),
    RUN: (words) =>
      scripts.push(...run(files, words.join(' ').replace('npm run build', `node ${folder}/scripts/build.mjs`))),
  };
  const text = readFileSync(join(ROOT, 'docker', dockerfile), 'utf8').replaceAll(/^#.*\n/gm, '');
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const [name = '', ...words] = line.trim().split(/\s+/);
    instructions[name]?.(words);
  }
  return scripts;
}

function run(files: Files, command: string): Script[] {
  const folders = new Set([...files.keys()].map((path) => dirname(path)));
  const started = [...command.matchAll(/(?:node|python) (\/\S+\.(?:mjs|py))/g)].map(([, path = '']) => path);
  const read = (command.match(/\/[\w./-]+\.\w+/g) ?? []).filter((path) => folders.has(dirname(path)));
  const scripts = [...new Set([...started, ...read])].map((path) => ({ path, files: new Map(files) }));
  for (const [, path = ''] of command.matchAll(/rm -r (\/\S+)/g))
    for (const file of files.keys()) if (file.startsWith(`${path}/`)) files.delete(file);
  return scripts;
}

function copy(files: Files, words: string[], folder: string): void {
  if (words[0]?.startsWith('--from')) return;
  const to = words.at(-1) ?? '';
  const sources = words.slice(0, -1);
  for (const source of sources) {
    if (!ALLOWED.some((allowed) => source === allowed || source.startsWith(`${allowed}/`)))
      throw new Error(`.dockerignore keeps ${source} out`);
    const isFolder = statSync(join(ROOT, source)).isDirectory();
    const target = resolve(
      folder,
      isFolder || !(to.endsWith('/') || sources.length > 1) ? to : `${to}/${basename(source)}`,
    );
    const inside = isFolder ? readdirSync(join(ROOT, source), { recursive: true, encoding: 'utf8' }) : [''];
    for (const name of inside) files.set(join(target, name), join(ROOT, source, name));
  }
}

/** Returns project files that a script imports or reads, directly or not, and that the image lacks. */
function missingOf({ path, files }: Script, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const source = files.get(path);
  if (source === undefined) return [path];
  const text = readFileSync(source, 'utf8');
  const imports =
    /(?:from|import) '(\.[^']+)'|(?:import|require)\('(\.[^']+)'\)|new URL\('([^']+\.\w+)', import\.meta\.url/g;
  return [...text.matchAll(imports)].flatMap((found) =>
    missingOf({ path: resolve(dirname(path), found.slice(1).find((name) => name !== undefined) ?? ''), files }, seen),
  );
}

it.each(['Dockerfile', 'spark-node.Dockerfile'])(
  '%s copies what its scripts import before it runs them',
  (dockerfile) => {
    const scripts = scriptsOf(dockerfile);
    expect(scripts.map(({ path }) => basename(path))).toContain('build.mjs');
    expect(scripts.flatMap((script) => missingOf(script))).toEqual([]);
  },
);

it('the build context has exactly the files that the images need', () => {
  const copied = ['Dockerfile', 'spark-node.Dockerfile'].flatMap((name) => {
    const text = readFileSync(join(ROOT, 'docker', name), 'utf8').replaceAll('\\\n', ' ');
    return [...text.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, sources = '']) => sources.trim().split(/\s+/));
  });
  expect(ALLOWED.filter((path) => !copied.includes(path))).toEqual([]);
});

it('images, manifests and the compose file start programs that the build creates', () => {
  const files = readdirSync(join(ROOT, 'docker'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /Dockerfile$|\.yaml$/.test(name),
  );
  const texts = files.map((name) => readFileSync(join(ROOT, 'docker', name), 'utf8')).join('\n');
  const programs = [...texts.matchAll(/\bdist\/(\w[\w-]*)\.js/g)].map(([, name = '']) => name);
  const bundles = readFileSync(join(ROOT, 'scripts', 'build', 'bundle.mjs'), 'utf8');
  const made = [...(/PROGRAMS = \{([^}]*)\}/.exec(bundles)?.[1] ?? '').matchAll(/([\w-]+)'?: '/g)].map(
    ([, name]) => name,
  );
  expect(made).toEqual(expect.arrayContaining([...new Set(programs)]));
  expect(new Set(programs)).toEqual(new Set(['api', 'worker', 'migrate']));
});

it('the image of Spark nodes has all files that the agent imports', () => {
  const text = readFileSync(join(ROOT, 'docker', 'spark-node.Dockerfile'), 'utf8');
  const folders = [...text.matchAll(/^COPY --from=build \/app\/dist\/libs\/(\S+)/gm)].map(([, name = '']) => name);
  const sources = (folder: string) =>
    readdirSync(join(ROOT, 'libs', folder)).filter(
      (name) => name.endsWith('.ts') && !/[.](spec|contract)[.]ts$/.test(name),
    );
  const imported = folders.flatMap((folder) =>
    sources(folder).flatMap((name) => {
      const source = readFileSync(join(ROOT, 'libs', folder, name), 'utf8');
      return [...source.matchAll(/^(?!import type).*from '\.\.\/([^/']+)\//gm)].map(([, other = '']) => other);
    }),
  );
  expect(folders).toContain('node-agent');
  expect([...new Set(imported)].filter((name) => !folders.includes(name))).toEqual([]);
});

it('the common stage of both Dockerfiles is identical, and excludes TypeScript and source maps of packages', () => {
  const stages = ['Dockerfile', 'spark-node.Dockerfile'].map((name) => {
    const text = readFileSync(join(ROOT, 'docker', name), 'utf8');
    return /^FROM \S+ AS build\n[\s\S]*?(?=^FROM )/m.exec(text)?.[0].trim();
  });
  expect(stages[0]).toBe(stages[1]);
  for (const suffix of ['*.map', '*.ts', '*.mts', '*.cts']) expect(stages[0]).toContain(`-name '${suffix}'`);
});

it('the compile caches of the image are readable by the user that runs the programs, and writable only by root', () => {
  const text = readFileSync(join(ROOT, 'docker', 'Dockerfile'), 'utf8');
  const [, commands = ''] = /^RUN (install .*dist\/\.compile-cache(?:[^\n]*\\\n)+.*)/m.exec(text) ?? [];
  // Node creates the files of its cache with read permission only for their owner.
  expect(commands).toMatch(
    /chown -R root:root dist\/\.compile-cache \\\n\s+&& chmod -R u=rwX,go=rX dist\/\.compile-cache/,
  );
});

it.each(['Dockerfile', 'spark-node.Dockerfile'])('%s labels an image with its version and revision', (name) => {
  const text = readFileSync(join(ROOT, 'docker', name), 'utf8');
  for (const label of ['version="$VERSION"', 'revision="$REVISION"'])
    expect(text).toContain(`org.opencontainers.image.${label}`);
});
