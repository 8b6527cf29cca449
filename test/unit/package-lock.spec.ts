import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  version?: string;
  resolved?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const file = join(__dirname, '..', '..', 'package-lock.json');
const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };

/** True if Node's module resolution from the folder of a package finds this dependency. */
function isLocked(from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    if (packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

describe('package-lock.json', () => {
  it('names no registry, so that each machine uses its own', () => {
    const resolved = Object.values(packages).map((locked) => locked.resolved);
    expect(resolved.filter((url) => url !== undefined && /^https?:/.test(url))).toEqual([]);
  });

  // A registry that leaves out the binaries of other systems makes npm write a file that `npm ci` then refuses;
  // `node scripts/complete-lock.mjs` adds what is missing.
  it('has every dependency that npm ci requires, including those of other systems', () => {
    const missing = Object.entries(packages).flatMap(([path, locked]) =>
      Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
        .filter((name) => !isLocked(path, name))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });
});
