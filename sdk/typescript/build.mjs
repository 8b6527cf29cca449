// Builds dist: a module and a declaration for each source. Types are not checked here but by `npm run lint`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureGenerated } from './generate.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} [root] folder of the package */
export async function buildSdk(root = here) {
  ensureGenerated(root);
  // It is large, so only a build loads it.
  const { default: ts } = await import('typescript');
  /** @type {import('typescript').CompilerOptions} */
  const compilerOptions = {
    module: ts.ModuleKind.ES2022,
    target: ts.ScriptTarget.ES2022,
    rewriteRelativeImportExtensions: true,
  };
  const source = join(root, 'src');
  const dist = join(root, 'dist');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.spec\.ts$|^testing\//.test(file))
    .sort();
  rmSync(dist, { recursive: true, force: true });
  for (const file of files) {
    const text = readFileSync(join(source, file), 'utf8');
    const options = { fileName: file, compilerOptions, reportDiagnostics: true };
    const declared = {
      ...options,
      compilerOptions: { ...compilerOptions, declaration: true, isolatedDeclarations: true },
    };
    const target = join(dist, file.replace(/\.ts$/, ''));
    mkdirSync(dirname(target), { recursive: true });
    for (const [ending, made] of /** @type {const} */ ([
      ['.js', ts.transpileModule(text, options)],
      ['.d.ts', ts.transpileDeclaration(text, declared)],
    ])) {
      const [problem] = made.diagnostics ?? [];
      if (problem) throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(problem.messageText, '\n')}`);
      // The compiler rewrites the endings of imports in modules only.
      writeFileSync(target + ending, made.outputText.replace(/( from '\.[^']+)\.ts'/g, "$1.js'"));
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildSdk();
