import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
/** What replaces a module, or adds to the workflows that every worker must have, does so for all that are loaded with it. */
const CONCERNS_OTHERS = /^jest\.mock\(|\bdefineWorkflow\(/m;

/**
 * Declares the tests of one part of the files in `test/medium`, from 1 on; there are as many parts as files that ask for
 * one. Jest loads the whole API anew for each file, which takes longer than the tests of most: those of a part load it
 * once. Each finds the environment as the first did. Files that need their modules to themselves are `*.alone.medium-spec.ts`.
 */
export function declarePart(part: number): void {
  const parts = readdirSync(__dirname).filter((name) => /^part-\d+\.ts$/.test(name)).length;
  const files = sharing().filter((_file, place) => place % parts === part - 1);
  for (const file of files) describe(file, () => declare(join(ROOT, file)));
}

/** The largest first, so that parts are alike. */
function sharing(): string[] {
  const names = readdirSync(ROOT, { recursive: true, encoding: 'utf8' });
  const shared = names.filter((name) => /(?<!\.alone)\.medium-spec\.ts$/.test(name));
  const sizes = new Map(shared.map((name) => [name, statSync(join(ROOT, name)).size]));
  return shared.sort((a, b) => sizes.get(b)! - sizes.get(a)! || (a < b ? -1 : 1));
}

function declare(path: string): void {
  if (CONCERNS_OTHERS.test(readFileSync(path, 'utf8'))) {
    throw new Error(`${path} changes what others load: name it *.alone.medium-spec.ts`);
  }
  let before: NodeJS.ProcessEnv;
  beforeAll(() => {
    before = { ...process.env };
  });
  afterAll(() => {
    for (const key of Object.keys(process.env)) if (!(key in before)) Reflect.deleteProperty(process.env, key);
    Object.assign(process.env, before);
  });
  jest.requireActual(path);
}
