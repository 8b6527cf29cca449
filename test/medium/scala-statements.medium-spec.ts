import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { STATEMENTS_OF } from '../../libs/spark/scala-repl';

const run = promisify(execFile);

const TOGETHER: readonly [string, string][] = [
  ['a method chain on later lines', 'val a = spark.range(3)\n  .map(i => i + 1)\n\n  // why\n  .collect()'],
  ['an operator at the end of a line', 'val a = 1 +\n  2'],
  ['an open bracket', 'foo(\n  1,\n  2\n)'],
  ['else on its own line', 'if (a) {\n  1\n}\nelse {\n  2\n}'],
  ['if without braces', 'if (a(1))\n  println(1)'],
  ['try and catch', 'try { f() }\ncatch { case e: Exception => g() }\nfinally { h() }'],
  ['a class header over lines', 'class A(i: Int)\n  extends B\n  with C'],
  ['a brace after a definition', 'object A\n{\n  val b = 1\n}'],
  ['an annotation on the line before', '@SerialVersionUID(1L)\nclass A'],
  ['a value on the line after', 'val a =\n  1'],
  ['XML', 'val a = <a>\n  <b>, }}</b>\n</a>'],
];

const APART: readonly [string, string][] = [
  ['a string with brackets', 'val a = "({["\nval b = 1'],
  ['a triple-quoted string over lines', 'val a = """x\n" ) }"""\nval b = 1'],
  ['an interpolated block with a string', 'val a = s"x ${f("}")} y"\nval b = 1'],
  ['a character', "val a = '{'\nval b = 1"],
  ['a symbol', "val a = $(s, 'x)\nval b = 1"],
  ['nested comments', 'val a = 1 /* { /* ( */ */\nval b = 1'],
  ['a backquoted name', 'val `a {` = 1\nval b = 1'],
  ['a semicolon', 'val a = 1; val b = 1'],
  ['a condition whose body is on the same line', 'if (a) f(1)\nval b = 1'],
];

const DEFINITIONS = [
  'import org.apache.spark.sql.functions._',
  'case class P(name: String, age: Int)',
  'private object P { def of(i: Int) = P("n", i) }',
];

/** A source that took 72 seconds before the interpreter's own parser was used. */
const LONG = Array.from({ length: 20_000 }, (_, i) => `val v${i} = ${i}`).join('\n');

const SOURCES = {
  definitions: [...DEFINITIONS, 'val k = 3', 'k.show()', 'implicit class Q(i: Int)', 'lazy val l = 1'].join('\n'),
  lines: '\n// note\nval a = 1\n\n\nval b = 2\n',
  empty: '// nothing\n/* here */',
  broken: 'val a = 1\nval b = (2',
  long: LONG,
  ...Object.fromEntries([...TOGETHER, ...APART]),
};

type Found = { statements: [line: number, code: string][]; errors: boolean };

// Real: the Scala interpreter that ships with Spark. Left out: Spark, which the splitting does not use.
describe('statements of raw Scala', () => {
  let folder: string;
  let found: Record<string, Found>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'scala-'));
    const names = Object.keys(SOURCES);
    for (const [at, name] of names.entries()) {
      writeFileSync(join(folder, `${at}.in`), SOURCES[name as keyof typeof SOURCES]);
    }
    writeFileSync(join(folder, 'script.scala'), scriptFor(names.length));
    const { javaHome, sparkHome } = JSON.parse(readFileSync(process.env.TEST_RUNTIME_JSON ?? '', 'utf8')) as {
      javaHome: string;
      sparkHome: string;
    };
    const jars = `${join(sparkHome, 'jars')}/*`;
    const options = ['-XX:TieredStopAtLevel=1', '-cp', jars, 'scala.tools.nsc.MainGenericRunner', '-usejavacp'];
    const child = run(join(javaHome, 'bin', 'java'), [...options, '-i', 'script.scala'], {
      cwd: folder,
      timeout: 60_000,
    });
    child.child.stdin?.end();
    await child;
    found = Object.fromEntries(
      names.map((name, at) => [name, JSON.parse(readFileSync(join(folder, `${at}.out`), 'utf8')) as Found]),
    );
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const codes = (name: string) => found[name]?.statements.map(([, code]) => code);

  it('keep neighbouring definitions together and separate every value and expression', () => {
    const rest = ['val k = 3', 'k.show()', 'implicit class Q(i: Int)', 'lazy val l = 1'];
    expect(codes('definitions')).toEqual([DEFINITIONS.join('\n'), ...rest]);
  });

  it.each(TOGETHER)('continue over %s', (name, source) => {
    expect(codes(name)).toEqual([source]);
  });

  it.each(APART)('are not misled by %s', (name) => {
    expect(codes(name)).toHaveLength(2);
    expect(codes(name)?.[1]).toBe('val b = 1');
  });

  it('are found with the line on which each starts', () => {
    expect(found['lines']?.statements.map(([line]) => line)).toEqual([3, 6]);
  });

  it('may be none', () => {
    expect(found['empty']).toEqual({ statements: [], errors: false });
  });

  it('are counted in a long source', () => {
    expect(codes('long')).toHaveLength(20_000);
  });

  it('come with an error if the source is not Scala', () => {
    expect(found['broken']?.errors).toBe(true);
  });
});

function scriptFor(count: number): string {
  return `{${STATEMENTS_OF}
  def json(text: String) = "\\"" + text.flatMap {
    case c if c == '"' || c == '\\\\' || c < ' ' => "\\\\u%04x".format(c.toInt)
    case c => c.toString
  } + "\\""
  for (n <- 0 until ${count}) {
    val source = new String(java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(n + ".in")), "UTF-8")
    $intp.reporter.reset()
    val statements = statementsOf(source).map { case (line, code) => "[" + line + "," + json(code) + "]" }
    val text = "{\\"statements\\":" + statements.mkString("[", ",", "]") + ",\\"errors\\":" + $intp.reporter.hasErrors + "}"
    java.nio.file.Files.write(java.nio.file.Paths.get(n + ".out"), text.getBytes("UTF-8"))
  }
  java.lang.System.exit(0)
}
`;
}
