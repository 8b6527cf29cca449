import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Thrown before anything listens when the environment is not usable; names variables, never their values. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigurationError';
  }
}

/** `agent` means that the API hands the value on to the agents of nodes, which read no environment of their own. */
type ConfiguredProcess = 'API' | 'worker' | 'agent';

/** The documentation of a variable, from which `npm run configuration` writes docs/configuration.md and .env.example. */
interface VariableText {
  /** A sentence or two in Markdown. */
  description: string;
  /** Processes that use the value; API and worker both check it. */
  readBy: readonly ConfiguredProcess[];
  unit?: 'bytes' | 'milliseconds' | 'seconds' | 'minutes' | 'days';
  /** Replaces the allowed values as the reader's method and limits give them. */
  allowed?: string;
  /** Replaces the default as the reader gives it, for one that depends on other variables or is not a value. */
  defaultText?: string;
  /** Condition under which an otherwise optional variable is required. */
  requiredIf?: string;
  /** Value that .env.example shows instead of the default. */
  example?: string;
}

export interface Variable extends VariableText {
  name: string;
  default: string | null;
  allowed: string;
}

export interface Section {
  title: string;
  /** A sentence in Markdown that applies to all variables of the section. */
  note: string;
  variables: Map<string, Variable>;
}

interface NumberRule extends VariableText {
  default?: number;
  min?: number;
  max?: number;
}

interface TextRule extends VariableText {
  default?: string;
}

/** Reads typed variables and collects every problem, so that one failed start names all of them. */
export class EnvReader {
  private problems: string[] = [];
  /** Sections of the documentation with the variables read so far. */
  sections: Section[] = [];
  private variables = new Map<string, Variable>();

  constructor(private readonly env: Readonly<Record<string, string | undefined>> = process.env) {}

  /** Throws {@link ConfigurationError} if any read so far failed. */
  assertValid(): void {
    if (this.problems.length > 0) throw new ConfigurationError(this.problems);
  }

  /** Returns a reader of the same environment whose variables stand in this section of the documentation. */
  section(title: string, note = ''): EnvReader {
    const reader = new EnvReader(this.env);
    reader.problems = this.problems;
    reader.sections = this.sections;
    const known = this.sections.find((section) => section.title === title);
    const section = known ?? { title, note, variables: reader.variables };
    reader.variables = section.variables;
    if (!known) this.sections.push(section);
    return reader;
  }

  string(name: string, rule: TextRule & { pattern?: RegExp; meaning?: string }): string {
    this.document(name, rule, rule.meaning ?? 'text', rule.default);
    const value = this.raw(name) ?? rule.default;
    if (value === undefined) return this.fail(name, 'is required', '');
    if (rule.pattern && !rule.pattern.test(value))
      return this.fail(name, `must be ${rule.meaning ?? 'well formed'}`, '');
    return value;
  }

  isSet(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  optional(name: string, text: VariableText): string | null {
    this.document(name, text, 'text');
    return this.raw(name) ?? null;
  }

  integer(name: string, rule: NumberRule): number {
    this.document(name, rule, rangeOf(rule), rule.default);
    const text = this.raw(name);
    if (text === undefined) return rule.default ?? this.fail(name, 'is required', 0);
    const value = Number(text);
    if (!Number.isInteger(value)) return this.fail(name, 'must be an integer', 0);
    if (rule.min !== undefined && value < rule.min) return this.fail(name, `must be at least ${rule.min}`, 0);
    if (rule.max !== undefined && value > rule.max) return this.fail(name, `must be at most ${rule.max}`, 0);
    return value;
  }

  boolean(name: string, rule: VariableText & { default: boolean }): boolean {
    this.document(name, rule, '`true` or `false`', rule.default);
    const text = this.raw(name)?.toLowerCase();
    if (text === undefined) return rule.default;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    return this.fail(name, 'must be true or false', rule.default);
  }

  oneOf<T extends string>(name: string, values: readonly T[], rule: VariableText & { default: NoInfer<T> }): T {
    this.document(name, rule, values.map(code).join(', '), rule.default);
    const text = this.raw(name);
    if (text === undefined) return rule.default;
    const found = values.find((v) => v === text);
    return found ?? this.fail(name, `must be one of ${values.join(', ')}`, rule.default);
  }

  url(name: string, protocols: readonly string[], rule: TextRule): string {
    const beginnings = protocols.map((protocol) => `${protocol}//`);
    this.document(name, rule, `URL that starts with ${beginnings.map(code).join(' or ')}`, rule.default);
    const text = this.raw(name) ?? rule.default;
    if (text === undefined) return this.fail(name, 'is required', '');
    const parsed = URL.parse(text);
    if (!parsed || !protocols.includes(parsed.protocol))
      return this.fail(name, `must be a URL starting with ${beginnings.join(' or ')}`, '');
    return text;
  }

  optionalUrl(name: string, protocols: readonly string[], text: VariableText): string | null {
    if (this.raw(name) !== undefined) return this.url(name, protocols, text);
    this.document(
      name,
      text,
      `URL that starts with ${protocols.map((protocol) => code(`${protocol}//`)).join(' or ')}`,
    );
    return null;
  }

  /** Returns the content of the text file that the variable names. */
  file(name: string, text: VariableText): string | null {
    this.document(name, text, 'path of a file');
    const path = this.raw(name);
    if (path === undefined) return null;
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return this.fail(name, 'names a file that cannot be read', null);
    }
  }

  /** Returns an absolute path, which programs can open from any working directory. */
  absolutePath(name: string, text: VariableText): string {
    const path = this.string(name, { allowed: 'absolute path', ...text });
    return path === '' || isAbsolute(path) ? path : this.fail(name, 'must be an absolute path', '');
  }

  /** True if the host of the URL can only be this machine. */
  isLoopback(url: string): boolean {
    return isLoopbackUrl(url);
  }

  /** Reads `id:base64,id:base64`. The first key is used for new work; the others stay readable. */
  keyRing(name: string, minBytes: number, rule: VariableText): { id: string; key: Buffer }[] {
    this.document(name, rule, '`id:base64,id:base64`');
    const text = this.raw(name);
    if (text === undefined) return this.fail(name, 'is required', []);
    const keys = text.split(',').map((entry) => {
      const [id = '', encoded = ''] = entry.trim().split(':');
      return { id, key: Buffer.from(encoded, 'base64') };
    });
    if (keys.some((k) => !/^[A-Za-z0-9_-]{1,32}$/.test(k.id) || k.key.length < minBytes)) {
      return this.fail(name, `must be a list of id:base64 with keys of at least ${minBytes} bytes`, []);
    }
    if (new Set(keys.map((k) => k.id)).size < keys.length) return this.fail(name, 'names a key id twice', []);
    return keys;
  }

  /** Reads a comma-separated list; an unset variable is an empty one. */
  list(name: string, text: VariableText): string[] {
    this.document(name, text, 'comma-separated list');
    return this.parts(name);
  }

  /** Reads a comma-separated list of some of the values, or `none`. */
  listOf<T extends string>(name: string, values: readonly T[], rule: VariableText & { default: T[] }): T[] {
    const choices = values.map(code).join(', ');
    this.document(name, rule, `comma-separated list of ${choices}; or \`none\``, rule.default.join(','));
    const parts = [...new Set(this.parts(name))];
    if (parts.length === 0) return rule.default;
    if (parts.join() === 'none') return [];
    const found = parts.map((text) => values.find((value) => value === text));
    if (found.every((value) => value !== undefined)) return found;
    return this.fail(name, `must be a list of ${values.join(', ')}, or none`, rule.default);
  }

  /** Reads a comma-separated list of at least one of the values; all of them if the variable is not set. */
  someOf<T extends string>(name: string, values: readonly T[], text: VariableText): T[] {
    const allowed = `comma-separated list of ${values.map(code).join(', ')}`;
    const some = this.listOf(name, values, { allowed, ...text, default: [...values] });
    if (some.length === 0) this.problem(name, `must name one of ${values.join(', ')}`);
    return some;
  }

  /** Reads `key=value,key=value`; `form` is how messages call that. */
  map(name: string, form: string, text: VariableText): Record<string, string> {
    this.document(name, text, `comma-separated list of \`${form}\``);
    const entries = this.parts(name).map((entry) => [entry, entry.indexOf('=')] as const);
    if (entries.some(([, at]) => at < 1)) return this.fail(name, `must be a list of ${form}`, {});
    return Object.fromEntries(entries.map(([entry, at]) => [entry.slice(0, at), entry.slice(at + 1)]));
  }

  /** Reads `key=path,key=path` with absolute paths. */
  absolutePaths(name: string, form: string, text: VariableText): Record<string, string> {
    const allowed = `comma-separated list of \`${form}\` with absolute paths`;
    const paths = this.map(name, form, { allowed, ...text });
    if (!Object.values(paths).every((path) => isAbsolute(path)))
      this.problem(name, `must be a list of ${form} with absolute paths`);
    return paths;
  }

  problem(name: string, text: string): void {
    this.problems.push(`${name} ${text}`);
  }

  private document(name: string, text: VariableText, allowed: string, byDefault?: string | number | boolean): void {
    const known = { ...text, name, allowed: text.allowed ?? allowed, default: byDefault?.toString() ?? null };
    this.variables.set(name, known);
  }

  private parts(name: string): string[] {
    return (this.raw(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  private raw(name: string): string | undefined {
    const value = this.env[name];
    return value === undefined || value.trim() === '' ? undefined : value.trim();
  }

  private fail<T>(name: string, text: string, placeholder: T): T {
    this.problem(name, text);
    return placeholder;
  }
}

/** True if only this machine can reach the URL. */
export function isLoopbackUrl(url: string): boolean {
  return LOOPBACK.test(URL.parse(url)?.hostname ?? '');
}

function rangeOf({ min, max }: NumberRule): string {
  if (max === undefined) return min === undefined ? 'integer' : `at least ${min}`;
  return min === undefined ? `at most ${max}` : `${min} to ${max}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
