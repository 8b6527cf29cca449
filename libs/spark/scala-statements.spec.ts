import { splitScala } from './scala-statements';

const codes = (source: string): string[] => splitScala(source).map((chunk) => chunk.code);

describe('splitScala', () => {
  it('keeps neighbouring definitions together and every value or expression alone', () => {
    const source = [
      'import org.apache.spark.sql.functions._',
      'case class P(name: String, age: Int)',
      'object P { def of(i: Int) = P("n", i) }',
      'val k = 3',
      'val ds = Seq(P.of(1)).toDS',
      'ds.show()',
      'def twice(i: Int) = i * 2',
      'println(twice(k))',
    ].join('\n');
    expect(codes(source)).toEqual([
      source.split('\n').slice(0, 3).join('\n'),
      'val k = 3',
      'val ds = Seq(P.of(1)).toDS',
      'ds.show()',
      'def twice(i: Int) = i * 2',
      'println(twice(k))',
    ]);
  });

  it.each([
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
  ])('reads on over %s', (_name, source) => {
    expect(codes(source)).toEqual([source]);
  });

  it.each([
    ['a string with brackets', 'val a = "({["\nval b = 1'],
    ['a triple-quoted string over lines', 'val a = """x\n" ) }"""\nval b = 1'],
    ['an interpolated block with a string', 'val a = s"x ${f("}")} y"\nval b = 1'],
    ['a character', "val a = '{'\nval b = 1"],
    ['a symbol', "val a = $(s, 'x)\nval b = 1"],
    ['nested comments', 'val a = 1 /* { /* ( */ */\nval b = 1'],
    ['a backquoted name', 'val `a {` = 1\nval b = 1'],
    ['a semicolon', 'val a = 1; val b = 1'],
    ['a condition whose body is on the same line', 'if (a) f(1)\nval b = 1'],
  ])('is not misled by %s', (_name, source) => {
    const found = codes(source);
    expect(found).toHaveLength(2);
    expect(found[1]).toBe('val b = 1');
  });

  it('tells the line where a chunk starts', () => {
    expect(splitScala('\n// note\nval a = 1\n\n\nval b = 2\n').map((chunk) => chunk.line)).toEqual([3, 6]);
  });

  it.each(['', '  \n', '// nothing\n/* here */'])('finds nothing in %j', (source) => {
    expect(splitScala(source)).toEqual([]);
  });

  it('leaves broken code to the compiler as one chunk', () => {
    expect(codes('val a = (1\nval b = 2')).toEqual(['val a = (1\nval b = 2']);
  });
});
