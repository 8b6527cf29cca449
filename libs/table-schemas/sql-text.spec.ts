import { assertExpression, assertOneStatement, literal, quotedName } from './sql-text';

describe('names and literals', () => {
  it.each([
    ["'; DROP TABLE x; --", "'\\'; DROP TABLE x; --'"],
    ["\\'; DROP TABLE x; --", "'\\\\\\'; DROP TABLE x; --'"],
    ['a\nb\r\t\0', "'a\\nb\\r\\t\\u0000'"],
    ['ü 名 🙂 "x" `y`', `'ü 名 🙂 "x" \`y\`'`],
    ['\ud83d', "'\\ud83d'"],
    ['${env:HOME} $5', "'\\u0024{env:HOME} $5'"],
    ['100\\%', "'100\\\\%'"],
  ])('writes %j so that Spark reads the same', (value, sql) => expect(literal(value)).toBe(sql));

  it('writes names between backticks', () => {
    expect(quotedName('a`; DROP TABLE x; --')).toBe('`a``; DROP TABLE x; --`');
    expect(() => quotedName('${spark.app.name}')).toThrow('SQL cannot express the name');
    expect(() => quotedName('')).toThrow('SQL cannot express the name');
  });
});

describe('SQL texts of others', () => {
  it.each([
    'SELECT 1',
    "SELECT ';', \";\", `;` -- ; ' \n, (1)",
    "SELECT /* ; ' */ 'it\\'s' /*+ hint(';') */",
    'SELECT r\'\\\' , R"\\d;"',
    'SELECT 4 -- the end',
  ])('may be the single statement %j', (text) => expect(() => assertOneStatement(text, 'It')).not.toThrow());

  it.each([
    'SELECT 1; DROP TABLE x',
    "SELECT 'a",
    'SELECT `a',
    'SELECT (1',
    'SELECT 1)',
    'SELECT /* a',
    'SELECT /* /* */ 1',
    "SELECT r'\\'; DROP TABLE x --'",
    "SELECT ür'a\\' ' ; DROP TABLE x --'",
    "SELECT --\\\n' ; DROP TABLE x --'",
    'SELECT -- \r; DROP TABLE x',
    "SELECT /*+ a('*/ '); ; DROP TABLE x --'",
    "SELECT 1 */* 2 '*/'; DROP TABLE x --'",
  ])('are refused if they are %j', (text) =>
    expect(() => assertOneStatement(text, 'It')).toThrow('It is not a single SQL statement'),
  );

  it.each(['', '1 -- a', '1 /* a */', '${x}', '1) , x INT, (y'])('are no expression if they are %j', (text) =>
    expect(() => assertExpression(text, 'It')).toThrow('It is not a single SQL expression'),
  );

  it('are checked in linear time', () => {
    const start = performance.now();
    for (const part of ["'", '`', '/*', '--\n', '(', '\\', "r'"]) {
      try {
        assertOneStatement(part.repeat(1e6), 'It');
      } catch {
        // The test only measures the time.
      }
    }
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});
