// Writes docs/configuration.md and .env.example from the variables that src/config reads: npm run configuration
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** @typedef {Pick<typeof import('../src/config/config.js'), 'Config'>} ConfigModule */
/** @typedef {Pick<typeof import('../src/config/env-reader.js'), 'ConfigurationError' | 'EnvReader'>} ReaderModule */
/** @typedef {import('../src/config/env-reader.js').Section} Section */
/** @typedef {import('../src/config/env-reader.js').Variable} Variable */

/** Environments to read: a variable is described when it is read, and some are only read if others have certain values. */
const ENVIRONMENTS = [
  { LDAP_URL: 'ldap://localhost', LDAP_BIND_DN: 'cn=a', AUTH_TYPE: 'AZURE_SSO', COMPUTE_LOCAL_ENABLED: 'true' },
  { STORE: 'aws' },
];

const PAGE_INTRODUCTION = `# Configuration

Written by \`npm run configuration\` from \`src/config\`, where each variable is described beside the code that reads it; the
test run compares.

API and worker read their configuration from environment variables; no file is read automatically. They check all variables
before anything listens, and a failed start names every variable that is unusable, never its value. An empty value counts as
unset. Commands for operators, such as \`npm run migrate\`, check the same variables. \`.env.example\` lists them for a shell.

"Read by" names the processes that use the value. \`agent\` means that the API or the worker hands it on to the agents of nodes,
which read no configuration of their own.
`;

const EXAMPLE_INTRODUCTION = `# Written by \`npm run configuration\`. docs/configuration.md has the same variables as tables.
# Every variable that the API, the worker and \`npm run migrate\` read; no file is read automatically. Locally:
#   set -a; . ./.env; set +a; npm run start:api
# A line without \`#\` must be set. A line with \`#\` may be left out and shows the default, or an example if there is none.
# Values with blanks, brackets or other special characters of the shell are in single quotes.
# An empty value counts as unset. All samples are for your own machine: generate new keys and passwords.
`;

const LINE_WIDTH = 118;

/**
 * @param {ConfigModule & ReaderModule} modules
 * @returns {Record<string, string>} the contents of the generated files by their paths in the project
 */
export function configurationFiles(modules) {
  const sections = describedSections(modules);
  const required = requiredVariables(modules);
  return {
    'docs/configuration.md': [PAGE_INTRODUCTION, ...sections.map((section) => pageSection(section, required))].join(
      '\n',
    ),
    '.env.example': [EXAMPLE_INTRODUCTION, ...sections.map((section) => exampleSection(section, required))].join('\n'),
  };
}

/** @param {ConfigModule & ReaderModule} modules @returns {Section[]} */
function describedSections({ Config, EnvReader }) {
  /** @type {Map<string, Section>} */
  const all = new Map();
  for (const environment of ENVIRONMENTS) {
    const reader = new EnvReader(environment);
    new Config(reader);
    for (const section of reader.sections) {
      const known = all.get(section.title)?.variables ?? new Map();
      // The first environment decides the order and, for a default that depends on other variables, the value.
      all.set(section.title, { ...section, variables: new Map([...known, ...section.variables, ...known]) });
    }
  }
  return [...all.values()];
}

/** @param {ConfigModule & ReaderModule} modules @returns {string[]} variables without which no process starts */
function requiredVariables({ Config, EnvReader, ConfigurationError }) {
  const reader = new EnvReader({});
  new Config(reader);
  try {
    reader.assertValid();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.flatMap((problem) => (/ is required$/.test(problem) ? [problem.split(' ')[0] ?? ''] : []));
  }
}

/** @param {Section} section @param {string[]} required */
function pageSection({ title, note, variables }, required) {
  const rows = Array.from(variables.values(), (variable) => {
    const cells = [`\`${variable.name}\``, defaultOf(variable, required), allowedOf(variable)];
    return [...cells, variable.readBy.join(', '), variable.description].map((cell) => cell.replaceAll('|', '\\|'));
  });
  const table = [['Variable', 'Default', 'Allowed values', 'Read by', 'Meaning'], Array(5).fill('---'), ...rows];
  const introduction = note === '' ? '' : `${note}\n\n`;
  return `## ${title}\n\n${introduction}${table.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`;
}

/** @param {Section} section @param {string[]} required */
function exampleSection({ title, variables }, required) {
  const entries = Array.from(variables.values(), (variable) => {
    const { name, description, readBy, example } = variable;
    const byDefault = defaultOf(variable, required);
    const rule = byDefault.startsWith('required') ? byDefault.replace('r', 'R') : `Default: ${byDefault}`;
    const rules = `Allowed: ${allowedOf(variable)}. ${rule}. Read by: ${readBy.join(', ')}.`;
    const value = quoted(example ?? variable.default ?? '');
    const comment = [description, rules].flatMap((text) => commentLines(plain(text)));
    return [...comment, `${required.includes(name) ? '' : '# '}${name}=${value}`, ''].join('\n');
  });
  return `# --- ${title} ---\n\n${entries.join('\n')}`;
}

/** @param {Variable} variable @param {string[]} required */
function defaultOf(variable, required) {
  const { name, requiredIf, defaultText, unit } = variable;
  const value =
    variable.default === null ? 'none' : `\`${variable.default}\`${unit === 'bytes' ? sizeOf(variable.default) : ''}`;
  if (requiredIf) return `required if ${requiredIf}${defaultText ? `; otherwise ${defaultText}` : ''}`;
  return required.includes(name) ? 'required' : (defaultText ?? value);
}

/** @param {Variable} variable */
function allowedOf({ unit, allowed }) {
  return unit ? `${unit}, ${allowed}` : allowed;
}

/** @param {string} bytes */
function sizeOf(bytes) {
  const power = [3, 2].find((exponent) => Number(bytes) % 1024 ** exponent === 0);
  return power ? ` (${Number(bytes) / 1024 ** power} ${power === 3 ? 'GiB' : 'MiB'})` : '';
}

/** Removes the markup from Markdown. @param {string} text */
function plain(text) {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

/** @param {string} text */
function commentLines(text) {
  const lines = ['#'];
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > LINE_WIDTH) lines.push('#');
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines;
}

/** @param {string} value */
function quoted(value) {
  return /^[\w.,:/=@+-]*$/.test(value) ? value : `'${value}'`;
}

async function writeFiles() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url);
  const load = (/** @type {string} */ name) => jiti.import(join(root, 'src', 'config', name));
  const modules = /** @type {ConfigModule & ReaderModule} */ ({
    .../** @type {ConfigModule} */ (await load('config.ts')),
    .../** @type {ReaderModule} */ (await load('env-reader.ts')),
  });
  for (const [file, text] of Object.entries(configurationFiles(modules))) writeFileSync(join(root, file), text);
}

// A module with an `await` here could not be loaded by the tests.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void writeFiles();
