import { NAMES, OPENINGS, WORDS } from './words.mjs';

/** Comments for tools, and those that consist of tags of JSDoc. */
const FOR_TOOLS = /^(eslint|oxlint|oxfmt|istanbul|prettier|@|<reference|#)/;

/**
 * @param {string} text
 * @param {import('./words.mjs').Banned[]} list
 * @param {string} place of the words, for the message
 */
const matches = (text, list, place) =>
  list.flatMap(({ pattern, instead }) => {
    const found = pattern.exec(text);
    return found ? [`${place} "${found[1] ?? found[0]}": ${instead}.`] : [];
  });

/**
 * Returns the faults of a comment.
 * @param {string} comment without the characters that mark it
 */
export function faultsOfComment(comment) {
  const text = comment.replaceAll(/\s+/g, ' ').trim();
  if (FOR_TOOLS.test(text)) return [];
  const described = text.split(' @')[0] ?? '';
  return [...matches(described, OPENINGS, 'A comment does not open with'), ...matches(text, WORDS, 'Avoid')];
}

/**
 * Returns the faults of a string or a template. A text without spaces is a name or a value.
 * @param {string} text
 */
export const faultsOfText = (text) => (/\S\s+\S/.test(text) ? matches(text, WORDS, 'Avoid') : []);

/**
 * Returns the faults of the name of a constant.
 * @param {string} name
 */
export const faultsOfName = (name) => (/^[A-Z\d_]+$/.test(name) ? matches(name, NAMES, 'A constant is not named') : []);

/**
 * Returns the text of a block comment without the asterisks of its lines.
 * @param {string} value
 */
export const withoutAsterisks = (value) => value.replaceAll(/^\s*\*+ ?/gm, '').trim();

/** @typedef {{line: number, message: string}} Fault */

/**
 * Returns the faults of a Python source: of comments on lines of their own, of docstrings and of names that it assigns.
 * @param {string} source
 * @returns {Fault[]}
 */
export function faultsOfPython(source) {
  const pattern = /^[ \t]*(?:((?:#(?!!).*\n?[ \t]*)+)|[rR]?("""|''')([^]*?)\2|([A-Z\d_]+)\s*[:=])/gm;
  return [...source.matchAll(pattern)].flatMap(({ index, 1: comment, 3: docstring, 4: name }) => {
    const line = source.slice(0, index).split('\n').length;
    const messages =
      name === undefined
        ? faultsOfComment(docstring ?? (comment ?? '').replaceAll(/^[ \t]*#+ ?/gm, ''))
        : faultsOfName(name);
    return messages.map((message) => ({ line, message }));
  });
}
