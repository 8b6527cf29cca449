// Runs the tests' fake of a metastore in a process of its own, so that its work is not counted as work of the API. The parent
// process sends the instructions; this process ends with its parent.
import { loadTesting } from './testing.mjs';

/**
 * One schema. `key` is its credential: the token of Unity, the access key of Glue. `port` 0 means any.
 * @typedef {object} Instructions
 * @property {keyof typeof SERVERS} kind
 * @property {string} schema
 * @property {string[]} tables
 * @property {number} columns
 * @property {string} key
 * @property {number} latencyMs
 * @property {number} port
 */

/** Each starts a server and returns its URL. */
const SERVERS = {
  /** @param {Instructions} instructions */
  async unity({ schema, tables, columns, key, latencyMs, port }) {
    /** @type {typeof import('../../test/fakes/metastores/fake-unity.js')} */
    const { FakeUnity, fakeUnityTable } = await loadTesting('fakes/metastores/fake-unity');
    const schemas = { [schema]: { tables: tables.map((name) => fakeUnityTable(name, columns)) } };
    return (await FakeUnity.start({ catalogs: { main: { schemas } }, token: key, latencyMs, port })).url;
  },
  /** @param {Instructions} instructions */
  async glue({ schema, tables, columns, key, latencyMs, port }) {
    /** @type {typeof import('../../test/fakes/metastores/fake-glue.js')} */
    const { FakeGlue, fakeGlueTable } = await loadTesting('fakes/metastores/fake-glue');
    const databases = { [schema]: { tables: tables.map((name) => fakeGlueTable(name, columns)) } };
    return (await FakeGlue.start({ databases, accessKeyId: key, latencyMs, port })).url;
  },
};

process.on('message', (/** @type {Instructions} */ instructions) => {
  SERVERS[instructions.kind](instructions).then(
    (url) => process.send?.({ url }),
    (/** @type {Error} */ error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit(0));
