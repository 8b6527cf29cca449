import { atomicType, type DataType, MAX_FIELDS, MAX_NESTING, type StructField } from './data-type';
import { quotedEnd } from './sql-text';
import { excerpt, TableSchemaError } from './table-schema-error';

/** Maximum length of the text of one type; Hive's database stores a few megabytes at most. */
const MAX_TEXT_LENGTH = 2 ** 22;

const UNQUOTED_NAME = /[^:,<>`'"()]+(?=:)/y;
const FIRST_WORD = /[^\s:,<>`'"()]+/y;
/** Matches `int`, `double precision`, `decimal(10, 2)` or `interval day to second`, without anything that follows. */
const ATOM =
  /(?:interval\s+\w+(?:\s+to\s+\w+)?|double\s+precision|timestamp\s+with(?:out)?\s+(?:local\s+)?time\s+zone|\w+(?:\s*\([^()<>]*\))?(?:\s+collate\s+\w+)?)/iy;

/**
 * Parses the text of a type from Hive or Spark, such as ``struct<a:int,`b c`:array<map<string,decimal(10,2)>>>``. Types that
 * Spark does not know are `foreign`. Throws `malformed` or `too-large`.
 */
export function parseTypeText(text: string): DataType {
  if (text.length > MAX_TEXT_LENGTH) throw new TableSchemaError('too-large', 'The text of a type is too long.');
  const parser = new TypeTextParser(text);
  const type = parser.type(0);
  parser.end();
  return type;
}

class TypeTextParser {
  private at = 0;
  private fields = 0;

  constructor(private readonly text: string) {}

  end(): void {
    this.space();
    if (this.at < this.text.length) this.fail();
  }

  type(depth: number): DataType {
    if (depth > MAX_NESTING) throw new TableSchemaError('too-large', 'A type is nested too deep.');
    this.space();
    const start = this.at;
    const atom = this.match(ATOM)?.[0] ?? this.fail();
    this.space();
    if (this.text[this.at] !== '<') return atomicType(atom);
    switch (atom.toLowerCase()) {
      case 'array':
        return this.within(() => ({ kind: 'array', element: this.type(depth + 1) }));
      case 'map':
        return this.within(() => {
          const key = this.type(depth + 1);
          this.expect(',');
          return { kind: 'map', key, value: this.type(depth + 1) };
        });
      case 'struct':
        return this.within(() => ({ kind: 'struct', fields: this.struct(depth + 1) }));
      case 'uniontype':
        return this.within(() => {
          do this.type(depth + 1);
          while (this.accept(','));
          return { kind: 'foreign', text: `${this.text.slice(start, this.at)}>` };
        });
      default:
        return this.fail();
    }
  }

  private struct(depth: number): StructField[] {
    const fields: StructField[] = [];
    this.space();
    if (this.text[this.at] === '>') return fields;
    do fields.push(this.field(depth));
    while (this.accept(','));
    return fields;
  }

  private field(depth: number): StructField {
    this.fields += 1;
    if (this.fields > MAX_FIELDS) throw new TableSchemaError('too-large', 'A type has too many fields.');
    this.space();
    const name = this.name();
    this.accept(':');
    const type = this.type(depth);
    const nullable = !this.match(/\s*not\s+null\b/iy);
    const comment = this.match(/\s*comment\s+(?=['"])/iy) ? this.string() : null;
    return { name, type, nullable, comment };
  }

  /** In a Hive table, Spark writes names without quotes, even if they contain spaces. */
  private name(): string {
    if (this.text[this.at] === '`') return this.quoted().replaceAll('``', '`');
    return (this.match(UNQUOTED_NAME) ?? this.match(FIRST_WORD) ?? this.fail())[0].trim();
  }

  private string(): string {
    return this.quoted().replace(/\\u([0-9a-f]{4})|\\([^])/gi, (_all, code?: string, char?: string) =>
      code === undefined ? (CONTROLS[char!] ?? char!) : String.fromCharCode(parseInt(code, 16)),
    );
  }

  private quoted(): string {
    const start = this.at;
    const end = quotedEnd(this.text, start);
    if (end === -1) this.fail();
    this.at = end;
    return this.text.slice(start + 1, end - 1);
  }

  private within(read: () => DataType): DataType {
    this.expect('<');
    const type = read();
    this.expect('>');
    return type;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private space(): void {
    this.match(/\s*/y);
  }

  private accept(char: string): boolean {
    this.space();
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  private expect(char: string): void {
    if (!this.accept(char)) this.fail();
  }

  private fail(): never {
    const rest = excerpt(this.text.slice(this.at));
    throw new TableSchemaError('malformed', `The type ${excerpt(this.text)} is malformed at ${rest}.`);
  }
}

const CONTROLS: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', '0': '\0' };
