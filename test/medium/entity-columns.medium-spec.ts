import { join } from 'node:path';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import ts from 'typescript';
import { LOOKUP_ENTITIES } from '../../src/modules/foundation/reference-data/entities/lookup-tables.entity';
import { preparedDatabase } from './harness/test-api';

const ROOT = join(__dirname, '..', '..');

/** An SQL value of each column type. */
const SAMPLES: Record<string, string> = {
  bigint: '9007199254740991::bigint',
  integer: '2147483647',
  'double precision': '0.5::double precision',
  numeric: '0.5::numeric',
  date: `'2026-01-31'::date`,
  text: `'text'`,
  boolean: 'true',
  uuid: `'00000000-0000-4000-8000-000000000000'::uuid`,
  jsonb: `'{"key": "value"}'::jsonb`,
  bytea: `'\\x00ff'::bytea`,
  timestamptz: `'2026-01-31T08:00:00.123Z'::timestamptz`,
};

/** Returns the kind of a value read back, in the words of {@link declaredKinds}. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'Date';
  if (Buffer.isBuffer(value)) return 'Buffer';
  return typeof value;
}

/** Entities describe what is read: each property is named like its column and has the type that the driver returns. */
describe('the columns of entities', () => {
  const { dataSource } = preparedDatabase();
  let declared: (className: string, property: string) => Set<string>;

  beforeAll(async () => {
    declared = declaredKinds();
  });

  it('are named as in the database', () => {
    const others = dataSource.entityMetadatas.flatMap(({ tableName, columns }) =>
      columns
        .filter(({ propertyName, databaseName }) => propertyName !== databaseName)
        .map(({ propertyName, databaseName }) => `${tableName}.${databaseName} is ${propertyName}`),
    );
    expect(others).toEqual([]);
  });

  it('have the type that the driver returns, and may be null if the column may', async () => {
    const lookups = new Set<unknown>(LOOKUP_ENTITIES);
    // The properties of lookup tables are generated from their definition.
    const entities = dataSource.entityMetadatas.filter(({ target }) => !lookups.has(target));
    const wrong: string[] = [];
    for (const { name, tableName, columns } of entities) {
      const found = await dataSource.query<Record<string, unknown>[]>(
        `SELECT ${columns.map((column) => `${sample(column)} AS "${column.databaseName}"`).join(', ')}`,
      );
      for (const column of columns) {
        const kinds = declared(name, column.propertyName);
        const read = kindOf(found[0]?.[column.databaseName]);
        if (!kinds.has(read))
          wrong.push(`${tableName}.${column.databaseName}: ${[...kinds].join(' | ')}, reads ${read}`);
        if (kinds.has('null') !== column.isNullable) wrong.push(`${tableName}.${column.databaseName}: null`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('declare which times may be infinite', async () => {
    const columns = await dataSource.query<{ table_name: string; column_name: string }[]>(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_default LIKE '''infinity''%'`,
    );
    const lookups = new Set(LOOKUP_ENTITIES.map((entity) => dataSource.getMetadata(entity).tableName));
    const wrong = columns
      .filter(({ table_name }) => !lookups.has(table_name))
      .filter(({ table_name, column_name }) => {
        const { name } = dataSource.entityMetadatas.find(({ tableName }) => tableName === table_name)!;
        return !declared(name, column_name).has('number');
      });
    expect(columns.length).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });
});

function sample({ type, isArray, databaseName }: ColumnMetadata): string {
  const value = SAMPLES[String(type)];
  if (value === undefined) throw new Error(`No sample of the type ${String(type)} of ${databaseName}`);
  return isArray ? `ARRAY[${value}]` : value;
}

/** Returns the declared kinds of value of an entity's property, from the compiler. */
function declaredKinds(): (className: string, property: string) => Set<string> {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const files = parsed.fileNames.filter((file) => file.endsWith('.entity.ts'));
  const program = ts.createProgram(files, { ...parsed.options, noEmit: true });
  const checker = program.getTypeChecker();
  const classes = new Map<string, ts.Type>();
  for (const file of files) {
    ts.forEachChild(program.getSourceFile(file)!, (node) => {
      if (ts.isClassDeclaration(node) && node.name) classes.set(node.name.text, checker.getTypeAtLocation(node));
    });
  }
  return (className, property) => {
    const symbol = classes.get(className)?.getProperty(property);
    if (!symbol) throw new Error(`${className} declares no ${property}`);
    const type = checker.getTypeOfSymbol(symbol);
    return new Set((type.isUnion() ? type.types : [type]).map((part) => kindOfType(checker, part)));
  };
}

function kindOfType(checker: ts.TypeChecker, type: ts.Type): string {
  if (type.flags & ts.TypeFlags.Null) return 'null';
  if (type.flags & ts.TypeFlags.StringLike) return 'string';
  if (type.flags & ts.TypeFlags.NumberLike) return 'number';
  if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
  if (checker.isArrayType(type)) return 'array';
  const name = type.getSymbol()?.name;
  if (name === 'Date' || name === 'Buffer') return name;
  if (type.flags & ts.TypeFlags.Object) return 'object';
  return checker.typeToString(type);
}
