// Writes the first version of a resource's files: `npm run new:resource -- git-credentials --folder=src/modules/…`.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { filesOf } from './new-resource/templates.mjs';

const USAGE = `Usage: npm run new:resource -- <name> --folder=<folder> [--into=<folder>]
  <name>     what there are many of: git-credentials
  --folder   the folder in src/modules in which the folder of the resource is made
  --into     where the files are written, if not in this project
`;
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SAMPLES = 'test/samples';

/**
 * @param {string} files
 * @returns {import('./new-resource/templates.mjs').Names}
 */
function namesOf(files) {
  const file = files.replace(/ies$/, 'y').replace(/s$/, '');
  /** @param {string} text */
  const pascal = (text) => text.replaceAll(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
  return {
    ...{ one: pascal(file), many: pascal(files) },
    ...{ kind: file.replaceAll('-', '_'), table: files.replaceAll('-', '_') },
    ...{ file, files },
    ...{ label: file.replaceAll('-', ' '), labels: files.replaceAll('-', ' ') },
  };
}

/**
 * Returns the one source with this name outside of the domains.
 * @param {string} name
 */
function sourceCalled(name) {
  const found = ['src', SAMPLES].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => basename(path) === `${name}.ts` && !path.startsWith('modules/'))
      .map((path) => join(folder, path)),
  );
  const [source, ...others] = found;
  if (source !== undefined && others.length === 0) return source;
  throw new Error(`A template imports ${name}, which is the name of ${found.length} sources: ${found.join(', ')}`);
}

/**
 * Adapts the imports of a template's text to the folder that it is written to.
 * @param {string} text
 * @param {{ from: string, resource: string }} folders the folder of the text, and that of the resource
 */
function withImports(text, { from, resource }) {
  return text.replaceAll(/(?<= from ')(~|\.\/)([^']+)/g, (_, how, name) => {
    const source = how === '~' ? sourceCalled(name).replace(/\.ts$/, '') : join(resource, name);
    const path = relative(from, source);
    return path.startsWith('.') ? path : `./${path}`;
  });
}

/**
 * Returns the nearest file, from the folder upward, whose name matches; of several in a folder, the one named after the folder.
 * @param {string} folder
 * @param {RegExp} ending
 */
function nearest(folder, ending) {
  for (let at = folder; at.startsWith('src/modules/'); at = dirname(at)) {
    const found = existsSync(join(ROOT, at)) ? readdirSync(join(ROOT, at)).filter((name) => ending.test(name)) : [];
    const name = found.find((name) => name.startsWith(`${basename(at)}.`)) ?? found[0];
    if (name !== undefined) return join(at, name);
  }
  return null;
}

/**
 * @param {import('./new-resource/templates.mjs').Names} names
 * @param {string} resource folder of the resource
 */
function whatIsLeft({ one, many, table, files, labels }, resource) {
  /** @param {string | null} module @param {string} source */
  const path = (module, source) =>
    withImports(` from './${source}'`, { from: dirname(module ?? resource), resource }).trim();
  const module = nearest(dirname(resource), /^[^.]+\.module\.ts$/);
  const apiModule = nearest(dirname(resource), /^[^.]+\.api\.module\.ts$/);
  const newDomain =
    'the module of the new domain, which src/api.module.ts, src/worker.module.ts and src/modules/layers.json name';
  return `
Left to do, as "Add a resource" of CONTRIBUTING.md says:
1. In the files: the columns, requests and answers that ${labels} have besides a name and a description.
2. In ${module ?? newDomain}, as providers, and the service among the exports:
     import { ${many}Repository } ${path(module, `${files}.repository`)};
     import { ${many}Service } ${path(module, `${files}.service`)};
3. In ${apiModule ?? newDomain}, as a controller:
     import { ${many}Controller } ${path(apiModule, `${files}.controller`)};
4. In test/medium/access-matrix/expected-access.yaml, who may call by the contract:
${[`list${many}`, `search${many}`, `create${one}`, `get${one}`, `update${one}`, `delete${one}`].map((id) => `     ${id}:`).join('\n')}
5. npm run build && DATABASE_URL=postgresql://… npm run migration:generate -- Add${many}
   (an empty database; read what it makes of ${table})
6. npm run format && npm run build && npm run openapi && npm run check
   npx jest test/medium/api-contract test/medium/tenant-isolation test/medium/lists test/medium/request-examples
   npx jest test/medium/access-matrix
`;
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { folder: { type: 'string' }, into: { type: 'string', default: ROOT } },
  });
  const [name = ''] = positionals;
  const folder = relative(ROOT, resolve(ROOT, values.folder ?? ''));
  if (!/^[a-z]+(-[a-z]+)*s$/.test(name) || !/^src\/modules\b/.test(folder)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const resource = join(folder, name);
  const names = namesOf(name);
  const made = Object.entries(filesOf(names)).map(([path, text]) => {
    const file = path.replace(/^~/, SAMPLES).replace(/^\./, resource);
    return { file, text: withImports(text, { from: dirname(file), resource }) };
  });
  const present = made.filter(({ file }) => existsSync(join(values.into, file)));
  if (present.length > 0) {
    process.stderr.write(
      `Nothing is written, since these files are there: ${present.map(({ file }) => file).join(', ')}\n`,
    );
    return 1;
  }
  for (const { file, text } of made) {
    mkdirSync(dirname(join(values.into, file)), { recursive: true });
    writeFileSync(join(values.into, file), text, { flag: 'wx' });
  }
  process.stdout.write(`${made.map(({ file }) => file).join('\n')}\n${whatIsLeft(names, resource)}`);
  return 0;
}

process.exitCode = main();
