#!/usr/bin/env node
// Records what operations answer in tests, and keeps one success of each as its example in the document: npm run examples:record
// An example that still fits its schema stays as it is, unless it is an empty page and a full one was seen; error codes are added to those
// that are known. --all runs all medium tests and forgets what was recorded before, --match=pattern runs other test files, and --from=folder reads
// former recordings.
import './embedded/newer-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { steady } from './examples/steady.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = join(root, 'src', 'platform', 'http');
const FILE = join(FOLDER, 'recorded-answers.json');
const ERRORS_FILE = join(FOLDER, 'recorded-errors.json');
/** These call every operation, or what only they can let succeed. */
const TESTS =
  'access-mutations|request-examples|catalog-browsing|credentials-check|oidc-login|notebook|functions|onprem|iam|health';
const MAX_EXAMPLE = 4_000;
/** Id of the request in examples of errors. */
const CORRELATION_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

/** @typedef {{operation: string, status: number, test: string, body: unknown}} Observed */

const args = process.argv.slice(2);
/** @param {string} name */
const argument = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const all = args.includes('--all');
const from = argument('from') ?? recordTests();
const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'));
const operationIds = new Set(
  Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId)),
);
const validators = validatorsOf(document);
/** @type {Record<string, unknown>} */
const former = formerly(FILE, {});
/** @type {{bodies: Record<string, unknown>, operations: Record<string, Record<string, string[]>>}} */
const formerErrors = formerly(ERRORS_FILE, { bodies: {}, operations: {} });
const observed = readObserved(from);
const candidates = candidatesOf(observed);
/** @type {Record<string, unknown>} */
const examples = {};
/** @type {string[]} */
const missing = [];
for (const [operation, validate] of [...validators].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  const kept = operation in former && validate(former[operation]) ? former[operation] : undefined;
  const seen =
    kept === undefined || showsNothing(kept) ? candidates.get(operation)?.find((body) => validate(body)) : kept;
  const example = seen ?? kept;
  if (example === undefined) missing.push(operation);
  else examples[operation] = example;
}
writeFileSync(FILE, `${JSON.stringify(examples, null, 2)}\n`);
writeFileSync(ERRORS_FILE, `${JSON.stringify(errorsOf(observed), null, 2)}\n`);
process.stdout.write(`${Object.keys(examples).length} examples; none of ${missing.join(', ') || 'no operation'}\n`);

/**
 * @template T
 * @param {string} file
 * @param {T} nothing
 * @returns {T} what an earlier run recorded
 */
function formerly(file, nothing) {
  return existsSync(file) && !all ? JSON.parse(readFileSync(file, 'utf8')) : nothing;
}

/** @returns {string} the folder with the recordings */
function recordTests() {
  const folder = mkdtempSync(join(tmpdir(), 'answers-'));
  const env = { ...process.env, TEST_RECORD_ANSWERS: folder };
  const { status } = spawnSync(
    'npx',
    ['jest', '--selectProjects', 'medium', '--testPathPatterns', argument('match') ?? (all ? 'test/medium' : TESTS)],
    {
      env,
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(status ?? 1);
  return folder;
}

/**
 * @param {string} folder
 * @returns {Observed[]}
 */
function readObserved(folder) {
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));
}

/**
 * Returns the answers of each operation without what differs from run to run, the best example first.
 * @param {Observed[]} observed
 * @returns {Map<string, unknown[]>}
 */
function candidatesOf(observed) {
  /** @type {Map<string, Set<string>>} */
  const texts = new Map();
  for (const { operation, status, body } of observed) {
    if (status >= 300) continue;
    const known = texts.get(operation) ?? new Set();
    known.add(JSON.stringify(steady(body)));
    texts.set(operation, known);
  }
  return new Map(
    [...texts].map(([operation, found]) => {
      const sorted = [...found].toSorted((a, b) => badness(a) - badness(b) || (a < b ? -1 : 1));
      return [operation, sorted.map((text) => JSON.parse(text))];
    }),
  );
}

/**
 * Returns the error codes that each operation answered by status, now or earlier, and one body of each code.
 * @param {Observed[]} observed
 */
function errorsOf(observed) {
  /** @type {Record<string, unknown>} */
  const bodies = {};
  const operations = Object.fromEntries(
    Object.entries(structuredClone(formerErrors.operations)).filter(([operation]) => operationIds.has(operation)),
  );
  /** @type {Map<string, string>} */
  const shortest = new Map();
  for (const { operation, status, body } of observed) {
    const { error_code: code } = /** @type {{error_code?: string}} */ (body ?? {});
    if (status < 400 || code === undefined || !operationIds.has(operation)) continue;
    keepShortest(
      shortest,
      code,
      JSON.stringify({ .../** @type {object} */ (steady(body)), correlation_id: CORRELATION_ID }),
    );
    const codes = ((operations[operation] ??= {})[status] ??= []);
    if (!codes.includes(code)) codes.push(code);
  }
  const codes = new Set(Object.values(operations).flatMap((statuses) => Object.values(statuses).flat()));
  for (const code of [...codes].toSorted())
    bodies[code] = formerErrors.bodies[code] ?? JSON.parse(shortest.get(code) ?? '');
  return { bodies, operations: sorted(operations) };
}

/**
 * @param {Map<string, string>} shortest
 * @param {string} code
 * @param {string} text
 */
function keepShortest(shortest, code, text) {
  const known = shortest.get(code);
  if (known === undefined || text.length < known.length || (text.length === known.length && text < known)) {
    shortest.set(code, text);
  }
}

/**
 * @param {Record<string, Record<string, string[]>>} operations
 */
function sorted(operations) {
  return Object.fromEntries(
    Object.entries(operations)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([operation, statuses]) => [
        operation,
        Object.fromEntries(Object.entries(statuses).map(([status, codes]) => [status, codes.toSorted()])),
      ]),
  );
}

/** @param {unknown} body of an empty list or page */
function showsNothing(body) {
  const text = JSON.stringify(body);
  return text === '[]' || text.startsWith('{"data":[]');
}

/**
 * An example shows much and is short: an empty list shows nothing, and a null or a single number little.
 * @param {string} text
 */
function badness(text) {
  const empty = showsNothing(JSON.parse(text)) ? 10_000 : 0;
  const bare = /^[[{]/.test(text) ? 0 : 1_000;
  const tooLong = text.length > MAX_EXAMPLE ? text.length : 0;
  return empty + bare + tooLong + 60 * (text.match(/:null|:\[\]|:\{\}/g) ?? []).length + text.length / 20;
}

/**
 * @param {any} document
 * @returns {Map<string, import('ajv').ValidateFunction>}
 */
function validatorsOf(document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' });
  const found = new Map();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, { operationId, responses }] of Object.entries(item)) {
      const status = Object.keys(responses).find(
        (key) => key.startsWith('2') && responses[key].content?.['application/json'],
      );
      if (status === undefined) continue;
      const pointer = ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema'];
      const $ref = `openapi#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
      found.set(operationId, ajv.compile({ $ref }));
    }
  }
  return found;
}
