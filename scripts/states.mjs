// Draws the state machines from their tables of transitions, as a comment above each table and in
// docs/architecture/states.md: npm run states
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { pictureOf } from './states/picture.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PAGE = 'docs/architecture/states.md';
const TABLE = /^export const (\w+)_TRANSITIONS: TransitionTable<\w+> = /gm;
/** Matches a comment with a block of text and the name of the table below it. */
const DRAWN = / \* ```text\n(?: \*.*\n)*? \* ```\n(?= \*\/\nexport const (\w+)_TRANSITIONS\b)/g;

/** @typedef {import('./states/picture.mjs').Transitions} Transitions */

/**
 * Returns the files with tables of transitions, relative to the project, with their texts.
 * @returns {{file: string, text: string}[]}
 */
export function filesWithTables() {
  return readdirSync(join(root, 'src'), { recursive: true })
    .map((name) => join('src', String(name)))
    .filter((file) => /(?<!\.spec)\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    .filter(({ text }) => text.search(TABLE) >= 0)
    .toSorted((a, b) => a.file.localeCompare(b.file));
}

/**
 * Returns the tables of transitions in a source by name.
 * @param {string} text
 * @returns {Map<string, Transitions>}
 * @throws if a table is not written as states with lists of states
 */
function tablesIn(text) {
  /** @type {Map<string, Transitions>} */
  const tables = new Map();
  const source = ts.createSourceFile('tables.ts', text, ts.ScriptTarget.Latest);
  for (const statement of source.statements.filter(ts.isVariableStatement))
    for (const { name, initializer } of statement.declarationList.declarations) {
      const [, subject] = ts.isIdentifier(name) ? (/^(\w+)_TRANSITIONS$/.exec(name.text) ?? []) : [];
      if (subject !== undefined && initializer && ts.isObjectLiteralExpression(initializer))
        tables.set(subject, transitionsOf(initializer));
    }
  return tables;
}

/**
 * @param {ts.ObjectLiteralExpression} table
 * @returns {Transitions}
 */
function transitionsOf(table) {
  const entries = table.properties.map((property) => {
    if (!ts.isPropertyAssignment(property) || !ts.isIdentifier(property.name)) throw new Error('A state needs a name.');
    if (!ts.isArrayLiteralExpression(property.initializer)) throw new Error(`${property.name.text} needs a list.`);
    const follow = property.initializer.elements.map((element) => {
      if (!ts.isStringLiteral(element)) throw new Error('A list of states holds texts only.');
      return element.text;
    });
    return [property.name.text, follow];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the source with the pictures in its comments drawn again.
 * @param {string} text
 * @throws if a table has no comment with a block of text right before it
 */
export function withPictures(text) {
  const tables = tablesIn(text);
  const undrawn = new Set(tables.keys());
  const drawn = text.replaceAll(DRAWN, (_, /** @type {string} */ name) => {
    const table = tables.get(name);
    if (!table) throw new Error(`${name}_TRANSITIONS is no table.`);
    undrawn.delete(name);
    return [' * ```text', ...pictureOf(table).map((line) => ` * ${line}`), ' * ```', ''].join('\n');
  });
  if (undrawn.size > 0)
    throw new Error(`No block of text in the comment above ${[...undrawn].join(', ')}_TRANSITIONS.`);
  return drawn;
}

/** Returns the page with all state machines. */
export function statesPage() {
  const sections = filesWithTables().flatMap(({ file, text }) =>
    [...tablesIn(text)].flatMap(([name, table]) => [
      `## ${name.charAt(0)}${name.slice(1).toLowerCase().replaceAll('_', ' ')}`,
      '',
      `\`${name}_TRANSITIONS\` in [${file}](../../${file}).`,
      '',
      '```mermaid',
      'stateDiagram-v2',
      ...Object.entries(table).flatMap(([from, follow]) =>
        follow.length > 0 ? follow.map((to) => `  ${from} --> ${to}`) : [`  ${from}`],
      ),
      '```',
      '',
    ]),
  );
  return [
    '# State machines',
    '',
    'Each table of transitions lists the states that may follow a state. `npm run states` draws them here and above each table.',
    '',
    ...sections,
  ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { file, text } of filesWithTables()) writeFileSync(join(root, file), withPictures(text));
  writeFileSync(join(root, PAGE), statesPage());
}
