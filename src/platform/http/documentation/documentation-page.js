'use strict';
// Browsers run this script on the documentation page; the Swagger UI is loaded before it. It is copied to dist as it is.

/**
 * Values of the Swagger UI, which are maps and lists of Immutable.
 * @typedef {any} Immutable
 */

/** Fewer characters are in most operations, and the page takes seconds to draw hundreds of them. */
const MIN_FILTER_LENGTH = 3;

/**
 * @param {unknown} phrase what is typed into the filter; `true`, also as a text, if that is nothing
 * @returns {string[]} none if the phrase is too short
 */
function wordsOf(phrase) {
  const words = typeof phrase === 'string' && phrase !== 'true' ? phrase.trim().toLowerCase() : '';
  return words.length < MIN_FILTER_LENGTH ? [] : words.split(/\s+/);
}

/**
 * Keeps the operations that have each word in the name of the section, the path, the id or the summary.
 * @param {Immutable} sections
 * @param {string} phrase
 */
function filterOperations(sections, phrase) {
  const words = wordsOf(phrase);
  const isFound = (/** @type {string} */ section, /** @type {Immutable} */ one) => {
    const texts = [section, one.get('path'), ...['operationId', 'summary'].map((key) => one.getIn(['operation', key]))];
    const text = texts.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return sections
    .map((/** @type {Immutable} */ section, /** @type {string} */ name) =>
      section.update('operations', (/** @type {Immutable} */ all) =>
        all.filter((/** @type {Immutable} */ one) => isFound(name, one)),
      ),
    )
    .filter((/** @type {Immutable} */ section) => section.get('operations').size > 0);
}

/**
 * Returns the part of the document at the path without references. The Swagger UI's own resolver normalizes the whole document for
 * each part, which takes seconds. All references lead into the document itself; one that leads back to a schema around it stays.
 * @param {any} document
 * @param {string[]} path
 * @returns {Promise<{spec: unknown, errors: unknown[]}>}
 */
async function resolvePart(document, path) {
  const at = (/** @type {string[]} */ keys) => keys.reduce((node, key) => node?.[key], document);
  /** @type {(node: any, around: string[]) => any} */
  const resolve = (node, around) => {
    if (Array.isArray(node)) return node.map((one) => resolve(one, around));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref: reference, ...others } = node;
    if (typeof reference === 'string') {
      if (around.includes(reference)) return node;
      return { ...resolve(at(reference.split('/').slice(1)), [...around, reference]), ...others };
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value, around)]));
  };
  return { spec: resolve(at(path), []), errors: [] };
}

/**
 * Finds operations. Without this plugin, the filter compares only the names of sections, and minds their case. Sections that it
 * leaves are open, although all are closed at first.
 */
const plugin = {
  fn: { opsFilter: filterOperations, resolveSubtree: resolvePart },
  statePlugins: {
    layout: {
      wrapSelectors: {
        isShown:
          (/** @type {Function} */ isShown, /** @type {any} */ system) =>
          (
            /** @type {Immutable} */ _state,
            /** @type {string | string[]} */ what,
            /** @type {unknown} */ byDefault,
          ) => {
            const isSection = Array.isArray(what) && what[0] === 'operations-tag';
            const isFiltered = isSection && wordsOf(system.layoutSelectors.currentFilter()).length > 0;
            return isShown(what, isFiltered || byDefault);
          },
      },
    },
  },
};

/** @type {any} */
const page = globalThis;
page.ui = page.SwaggerUIBundle({
  dom_id: '#documentation',
  url: 'openapi.json',
  presets: [page.SwaggerUIBundle.presets.apis],
  plugins: [plugin],
  layout: 'BaseLayout',
  docExpansion: 'none',
  // Each operation shows its schemas, so the page has no list of them.
  defaultModelsExpandDepth: -1,
  deepLinking: true,
  displayOperationId: true,
  filter: true,
  persistAuthorization: true,
});
