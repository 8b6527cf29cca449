import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');

/** Names given to a reader: `env.string('HOST', …)`. */
function variablesRead(): string[] {
  const folder = join(root, 'src', 'config');
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  const sources = files.map((name) => readFileSync(join(folder, name), 'utf8'));
  return sources.flatMap((text) => [...text.matchAll(/\benv\.\w+\(\s*'([A-Z][A-Z0-9_]*)'/g)].map((m) => m[1] ?? ''));
}

/** `NAME=value`, or `# NAME=` where the variable may be left out. */
function variablesListed(): string[] {
  const file = join(root, '.env.example');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...text.matchAll(/^#?\s*([A-Z][A-Z0-9_]*)=/gm)].map((m) => m[1] ?? '');
}

/** Of the tables under "Configuration": `| \`NAME\`, \`NAME\` | default | meaning |`. */
function variablesInReadme(): string[] {
  const [, section = ''] = /\n## Configuration\n(.*?)\n## /s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  const cells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map((m) => m[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map((m) => m[1] ?? ''));
}

describe('README.md', () => {
  it('lists the variables that src/config reads, each once', () => {
    expect(variablesInReadme().sort()).toEqual([...new Set(variablesRead())].sort());
  });
});

describe('.env.example', () => {
  it('lists exactly the variables that src/config reads', () => {
    const read = [...new Set(variablesRead())].sort();
    expect(read).toContain('DATABASE_URL');
    expect([...new Set(variablesListed())].sort()).toEqual(read);
  });

  it('lists none twice', () => {
    const listed = variablesListed();
    expect(listed.filter((name, index) => listed.indexOf(name) !== index)).toEqual([]);
  });
});
