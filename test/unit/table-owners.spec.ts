import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataArgsStorage } from 'typeorm';
import ts from 'typescript';
import { tableOf, type EntityClass } from '../../src/platform/kernel/persistence/entity-table';
import layers from '../../src/modules/layers.json';

const SOURCES = join(__dirname, '..', '..', 'src');
/** Code outside all domains. All domains may name its tables, and it names no tables of theirs. */
const PLATFORM = 'platform';
const DOMAINS = layers.flatMap(({ layer, domains }) => domains.map(({ name }) => ({ layer, name })));
const ORDER = [PLATFORM, ...DOMAINS.map(({ name }) => name)];

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.ts$/.test(name) && !/\.(d|spec)\.ts$|^database\/migrations\//.test(name),
);

/** Returns the domain of a file of `src`; throws if its folder in `modules` is not in layers.json. */
function domainOf(file: string): string {
  const [, layer, folder] = /^modules\/([^/]+)\/([^/]+)\//.exec(file) ?? [];
  if (folder === undefined) return PLATFORM;
  const domain = DOMAINS.find((one) => one.layer === layer && one.name === folder);
  if (!domain) throw new Error(`src/modules/${layer}/${folder} has no place in src/modules/layers.json`);
  return domain.name;
}

interface OwnedEntity {
  table: string;
  domain: string;
}

/** Returns all entity classes with a table, each with the domain that declares it. */
async function entitiesOf(entityFiles: string[]): Promise<Map<unknown, OwnedEntity>> {
  const entities = new Map<unknown, OwnedEntity>();
  for (const file of entityFiles) {
    const declared = (await import(join(SOURCES, file))) as Record<string, unknown>;
    for (const value of Object.values(declared).flat()) {
      const table = typeof value === 'function' ? nameOf(value as EntityClass) : null;
      if (table !== null) entities.set(value, { table, domain: domainOf(file) });
    }
  }
  return entities;
}

/** Returns null for a class without its own table, such as a base class. */
function nameOf(entity: EntityClass): string | null {
  try {
    return tableOf(entity);
  } catch {
    return null;
  }
}

/** Stands for an interpolated value in a text. */
const HOLE = '\u0000';
const SOURCE = String.raw`(?:ONLY\s+)?"?([a-z_]\w*|${HOLE})"?`;
const STATEMENT = new RegExp(String.raw`\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+${SOURCE}`, 'g');
/** Further tables of a list after FROM. */
const LISTED = new RegExp(
  String.raw`\b(?:FROM|USING)\s+"?\w+"?(?:\s+(?:AS\s+)?[a-z]\w*)?((?:\s*,\s*"?\w+"?(?:\s+(?:AS\s+)?[a-z]\w*)?)+)`,
  'g',
);

/** Returns the tables that the statements in a text read or write; an interpolated table name is a hole. */
function sourcesIn(sql: string): string[] {
  const first = [...sql.matchAll(STATEMENT)].map(([, name = '']) => name);
  const listed = [...sql.matchAll(LISTED)].flatMap(([, list = '']) =>
    list.split(',').map((item) => /\w+/.exec(item)?.[0] ?? ''),
  );
  return [...first, ...listed];
}

interface Named {
  name: string;
  line: number;
}

/** Returns the tables that a source names. A text that equals a table name counts if the source interpolates table names. */
function tablesNamedIn(source: ts.SourceFile, owners: ReadonlyMap<string, string>): Named[] {
  const named: Named[] = [];
  const whole: Named[] = [];
  let hasHole = false;
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== null) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      const sources = sourcesIn(text);
      hasHole ||= sources.includes(HOLE);
      for (const name of sources) if (owners.has(name)) named.push({ name, line });
      if (owners.has(text)) whole.push({ name: text, line });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return hasHole ? [...named, ...whole] : named;
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => HOLE + literal.text).join('');
}

function parsed(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
}

/** Returns each statement that names a table of a domain not listed before its own. */
function upward(file: string, text: string, owners: ReadonlyMap<string, string>): string[] {
  const domain = domainOf(file);
  const found = tablesNamedIn(parsed(file, text), owners).flatMap(({ name, line }) => {
    const owner = owners.get(name) ?? PLATFORM;
    return ORDER.indexOf(owner) > ORDER.indexOf(domain)
      ? [`src/${file}:${line}: ${domain} names "${name}" of ${owner}`]
      : [];
  });
  return [...new Set(found)];
}

describe('Tables', () => {
  let entities: Map<unknown, OwnedEntity>;
  /** The owning domain of each table, by the table's name. */
  let owners: Map<string, string>;

  beforeAll(async () => {
    entities = await entitiesOf(files.filter((file) => file.endsWith('.entity.ts')));
    owners = new Map([...entities.values()].map(({ table, domain }) => [table, domain]));
  });

  it('are used only by statements of their owner and of the domains after it', () => {
    const found = files.flatMap((file) => upward(file, readFileSync(join(SOURCES, file), 'utf8'), owners));
    expect(found).toEqual([]);
  });

  it.each([
    ['a read', '`SELECT 1 FROM runs r WHERE TRUE`'],
    ['a join in a part of a statement', '`JOIN runs r ON r.cluster_id = ${alias}.cluster_id`'],
    ['a list', "'DELETE FROM clusters c USING cluster_nodes n, runs r'"],
    ['a write', "'INSERT INTO runs (run_id) VALUES ($1)'"],
    ['a change', '`UPDATE runs SET status = $1`'],
    ['a statement that the name is put into', "for (const table of ['runs']) q(`DELETE FROM ${table}`)"],
  ])('of a higher domain are found in %s', (_, text) => {
    expect(upward('modules/execution/clusters/any.repository.ts', text, owners)).toEqual([
      'src/modules/execution/clusters/any.repository.ts:1: clusters names "runs" of runs',
    ]);
    expect(upward('modules/execution/notebooks/any.repository.ts', text, owners)).toEqual([]);
  });

  it('refer only to tables of domains before theirs; only workflows name their subject', () => {
    const byName = new Map([...entities].map(([entity, { domain }]) => [(entity as EntityClass).name, domain]));
    const place = (entity: string) => ORDER.indexOf(byName.get(entity) ?? '');
    // TypeORM has one storage per process, which also holds classes of test files with their own modules.
    const foreignKeys = getMetadataArgsStorage().foreignKeys.filter(({ target }) => entities.has(target));
    const references = foreignKeys.map(({ target, type }) => {
      const referred: unknown = typeof type === 'function' ? (type as () => unknown)() : type;
      return [(target as EntityClass).name, typeof referred === 'string' ? referred : (referred as EntityClass).name];
    });
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter(([from = '', to = '']) => place(to) < 0 || place(to) > place(from))).toEqual([
      ['WorkflowJob', 'Cluster'],
    ]);
  });

  it('are not found in other texts', () => {
    for (const text of ["const a = 'runs'", '`Runs from runs`', '`SELECT t.runs FROM clusters t`'])
      expect(upward('modules/execution/clusters/any.repository.ts', text, owners)).toEqual([]);
  });
});
