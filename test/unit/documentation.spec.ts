import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import layers from '../../src/modules/layers.json';

const root = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Returns the paths of the files below the folders. */
function filesBelow(folders: readonly string[], ending: RegExp): string[] {
  const names = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return names.filter((name) => ending.test(name) && statSync(join(root, name)).isFile());
}

const MAX_GUIDE_BYTES = 8_000;
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow(['docs', 'test/fixtures'], /\.md$/)];
const withoutCode = (text: string) => text.replaceAll(/```.*?```/gs, '');

/** Returns the anchors that GitHub creates for the headings of a page. */
function anchorsOf(page: string): string[] {
  const headings = [...withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text);
  return headings.map((text) =>
    text
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documentation', () => {
  it('has no broken link into the project', () => {
    const broken = PAGES.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^(https?|mailto):/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#');
          const target = path === '' ? page : relative(root, join(root, dirname(page), path));
          if (!existsSync(join(root, target))) return true;
          return anchor !== undefined && !anchorsOf(target).includes(anchor);
        })
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('has a README that takes a few minutes to read', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(10_000);
  });

  it('has short guides, each listed in the index', () => {
    const guides = filesBelow(['docs/guides'], /\.md$/).map((file) => file.replace('docs/guides/', ''));
    const index = read('docs/guides/README.md');
    const pages = guides.filter((name) => name !== 'README.md');
    expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
    expect(pages.filter((name) => statSync(join(root, 'docs/guides', name)).size > MAX_GUIDE_BYTES)).toEqual([]);
    // test/e2e/guides.e2e-spec.ts runs only command blocks with these fences.
    const fences = pages.flatMap((name) =>
      [...read(`docs/guides/${name}`).matchAll(/^```(\w+)$/gm)].map(([, kind]) => kind),
    );
    expect([...new Set(fences)].sort()).toEqual(['console', 'sh', 'text']);
  });

  it('and the code refer only to existing decisions', () => {
    const numbers = readdirSync(join(root, 'docs', 'adr')).map((name) => name.slice(0, 4));
    const sources = filesBelow(['src', 'libs', 'scripts', 'test', 'docker'], /\.(ts|mjs|cjs|py|sh|scala|ya?ml)$/);
    const named = [...PAGES, ...sources].flatMap((file) =>
      [...read(file).matchAll(/\bADRs?\s+\[?(\d{4})\b/g)].map(([, number = '']) => ({ file, number })),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ number }) => !numbers.includes(number))).toEqual([]);
  });

  it('numbers the decisions without gaps or duplicates', () => {
    const numbers = readdirSync(join(root, 'docs', 'adr')).map((name) => name.slice(0, 4));
    expect(numbers.toSorted()).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')));
    for (const name of readdirSync(join(root, 'docs', 'adr')))
      expect(read(`docs/adr/${name}`)).toMatch(new RegExp(`^# ${name.slice(0, 4)}: `));
  });

  it('lists the domains of src/modules', async () => {
    const { architecturePage } = await import('../../scripts/architecture.mjs');
    expect(read('docs/architecture/layout.md')).toBe(architecturePage());
    const listed = layers.flatMap(({ layer, domains }) => domains.map(({ name }) => `${layer}/${name}`));
    const folders = layers.flatMap(({ layer }) =>
      readdirSync(join(root, 'src', 'modules', layer)).map((name) => `${layer}/${name}`),
    );
    expect([...listed].sort()).toEqual(folders.sort());
    expect(readdirSync(join(root, 'src', 'modules')).sort()).toEqual(
      ['layers.json', ...layers.map(({ layer }) => layer)].sort(),
    );
  });

  it('names only code that exists in the glossary and on the architecture pages', () => {
    const files = filesBelow(['src', 'libs', 'test/medium/harness'], /\.(ts|json|py)$/);
    const code = [...files, ...[...files, 'openapi.json'].map(read)].join('\n');
    const words = new Set(code.match(/\w+/g));
    const exists = (name: string) =>
      /^\w+$/.test(name) ? words.has(name) : code.includes(name) || existsSync(join(root, name));
    const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

    const rows = read('docs/glossary.md').match(/^\| (?!term).*\|$/gm) ?? [];
    const terms = rows.flatMap((row) => namesIn(row.split('|').slice(2, -2).join('|')));
    expect(terms.length).toBeGreaterThan(100);
    const pages = filesBelow(['docs/architecture'], /\.md$/).flatMap((page) => namesIn(withoutCode(read(page))));
    const classes = pages.filter((name) => /^\w*[a-z][A-Z]\w*$/.test(name));
    expect(classes.length).toBeGreaterThan(50);
    expect([...terms, ...classes].filter((name) => !exists(name.replace('…', '')))).toEqual([]);
  });
});
