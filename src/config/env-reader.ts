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

interface NumberRule {
  default?: number;
  min?: number;
  max?: number;
}

/** Reads typed variables and collects every problem, so that one start names all of them. */
export class EnvReader {
  private readonly problems: string[] = [];

  constructor(private readonly env: Readonly<Record<string, string | undefined>> = process.env) {}

  /** Throws {@link ConfigurationError} when any read so far failed. */
  assertValid(): void {
    if (this.problems.length > 0) throw new ConfigurationError(this.problems);
  }

  string(name: string, rule: { default?: string; pattern?: RegExp; meaning?: string } = {}): string {
    const value = this.raw(name) ?? rule.default;
    if (value === undefined) return this.fail(name, 'is required', '');
    if (rule.pattern && !rule.pattern.test(value))
      return this.fail(name, `must be ${rule.meaning ?? 'well formed'}`, '');
    return value;
  }

  optional(name: string): string | null {
    return this.raw(name) ?? null;
  }

  integer(name: string, rule: NumberRule = {}): number {
    const text = this.raw(name);
    if (text === undefined) return rule.default ?? this.fail(name, 'is required', 0);
    const value = Number(text);
    if (!Number.isInteger(value)) return this.fail(name, 'must be an integer', 0);
    if (rule.min !== undefined && value < rule.min) return this.fail(name, `must be at least ${rule.min}`, 0);
    if (rule.max !== undefined && value > rule.max) return this.fail(name, `must be at most ${rule.max}`, 0);
    return value;
  }

  boolean(name: string, fallback: boolean): boolean {
    const text = this.raw(name)?.toLowerCase();
    if (text === undefined) return fallback;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    return this.fail(name, 'must be true or false', fallback);
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const text = this.raw(name);
    if (text === undefined) return fallback;
    const found = values.find((v) => v === text);
    return found ?? this.fail(name, `must be one of ${values.join(', ')}`, fallback);
  }

  url(name: string, protocols: readonly string[], fallback?: string): string {
    const text = this.raw(name) ?? fallback;
    if (text === undefined) return this.fail(name, 'is required', '');
    const parsed = URL.parse(text);
    if (!parsed || !protocols.includes(parsed.protocol)) {
      return this.fail(name, `must be a URL starting with ${protocols.map((p) => `${p}//`).join(' or ')}`, '');
    }
    return text;
  }

  /** The same of a variable that need not be there. */
  optionalUrl(name: string, protocols: readonly string[]): string | null {
    return this.raw(name) === undefined ? null : this.url(name, protocols);
  }

  /** Content of the text file that the variable names. */
  file(name: string): string | null {
    const path = this.raw(name);
    if (path === undefined) return null;
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return this.fail(name, 'names a file that cannot be read', null);
    }
  }

  /** An absolute path, which programs can open whatever folder they start in. */
  absolutePath(name: string): string {
    const path = this.string(name);
    return path === '' || isAbsolute(path) ? path : this.fail(name, 'must be an absolute path', '');
  }

  /** Whether the host of a URL can only be this machine. */
  isLoopback(url: string): boolean {
    return isLoopbackUrl(url);
  }

  /** `id:base64,id:base64`; the first is used for new work, the others stay readable. */
  keyRing(name: string, minBytes: number): { id: string; key: Buffer }[] {
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

  list(name: string): string[] {
    return (this.raw(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** Some of the values, comma-separated, or `none`. */
  listOf<T extends string>(name: string, values: readonly T[], fallback: T[]): T[] {
    const given = [...new Set(this.list(name))];
    if (given.length === 0) return fallback;
    if (given.join() === 'none') return [];
    const found = given.map((text) => values.find((value) => value === text));
    if (found.every((value) => value !== undefined)) return found;
    return this.fail(name, `must be a list of ${values.join(', ')}, or none`, fallback);
  }

  /** A comma-separated list of at least one of the values; all of them if the variable is not set. */
  someOf<T extends string>(name: string, values: readonly T[]): T[] {
    const some = this.listOf(name, values, [...values]);
    if (some.length === 0) this.problem(name, `must name one of ${values.join(', ')}`);
    return some;
  }

  /** `key=value,key=value`; `form` says so to people. */
  map(name: string, form: string): Record<string, string> {
    const entries = this.list(name).map((entry) => [entry, entry.indexOf('=')] as const);
    if (entries.some(([, at]) => at < 1)) return this.fail(name, `must be a list of ${form}`, {});
    return Object.fromEntries(entries.map(([entry, at]) => [entry.slice(0, at), entry.slice(at + 1)]));
  }

  /** The same with absolute paths as values. */
  absolutePaths(name: string, form: string): Record<string, string> {
    const paths = this.map(name, form);
    if (!Object.values(paths).every((path) => isAbsolute(path)))
      this.problem(name, `must be a list of ${form} with absolute paths`);
    return paths;
  }

  problem(name: string, text: string): void {
    this.problems.push(`${name} ${text}`);
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

/** Whether only this machine can reach the URL. */
export function isLoopbackUrl(url: string): boolean {
  return LOOPBACK.test(URL.parse(url)?.hostname ?? '');
}
