// The tests' stand-in for a metastore, in a process of its own: what it does for an answer must not be taken for work of
// those who ask. Told what to serve by its parent, and ends with it.
import { loadTesting } from './testing.mjs';

/**
 * One schema. `key` opens it: the token of Unity, the access key of Glue. `port` is 0 for any.
 * @typedef {object} Told
 * @property {keyof typeof SERVERS} kind
 * @property {string} schema
 * @property {string[]} tables
 * @property {number} columns
 * @property {string} key
 * @property {number} latencyMs
 * @property {number} port
 */

/** Each answers the URL of what it began to serve. */
const SERVERS = {
  /** @param {Told} told */
  async unity({ schema, tables, columns, key, latencyMs, port }) {
    /** @type {typeof import('../../test/fakes/metastores/fake-unity.js')} */
    const { FakeUnity, fakeUnityTable } = await loadTesting('fakes/metastores/fake-unity');
    const schemas = { [schema]: { tables: tables.map((name) => fakeUnityTable(name, columns)) } };
    return (await FakeUnity.start({ catalogs: { main: { schemas } }, token: key, latencyMs, port })).url;
  },
  /** @param {Told} told */
  async glue({ schema, tables, columns, key, latencyMs, port }) {
    /** @type {typeof import('../../test/fakes/metastores/fake-glue.js')} */
    const { FakeGlue, fakeGlueTable } = await loadTesting('fakes/metastores/fake-glue');
    const databases = { [schema]: { tables: tables.map((name) => fakeGlueTable(name, columns)) } };
    return (await FakeGlue.start({ databases, accessKeyId: key, latencyMs, port })).url;
  },
};

process.on('message', (/** @type {Told} */ told) => {
  SERVERS[told.kind](told).then(
    (url) => process.send?.({ url }),
    (/** @type {Error} */ error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit(0));
