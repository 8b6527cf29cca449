// The minimum that could answer the same request: Express and, if the product reads the database, the same query through a
// pool with the same settings, and a similar body. The parent process sends the instructions; this process ends with its
// parent.
import express from 'express';
import pg from 'pg';

/**
 * The body of an answer.
 * @typedef {Record<string, unknown>} Body
 *
 * The query that reads a cluster. `params` go with `sql`; the parameter at index `idParam` is the id of the cluster.
 * @typedef {{pool: import('pg').PoolConfig, sql: string, params: unknown[], idParam: number}} Query
 *
 * Instructions of the parent: the path and the body of the response, and `query` if the database must be read for it.
 * @typedef {{path: string, body: Body, query?: Query}} Instructions
 */

/**
 * Returns a handler that reads a cluster.
 * @param {Query} query
 * @param {Body} body
 * @returns {import('express').RequestHandler}
 */
function fromDatabase({ pool: poolOptions, sql, params, idParam }, body) {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool(poolOptions);
  /**
   * Fields that the row provides. The product computes the other fields in memory; here they come from a recorded body.
   * @type {string[] | undefined}
   */
  let fromRow;
  return async (request, response) => {
    const values = params.with(idParam, Number(request.query.cluster_id));
    /** @type {{rows: Body[]}} */
    const { rows } = await pool.query(sql, values);
    const [row] = rows;
    if (!row) {
      response.status(404).json({ error: 'Not found' });
      return;
    }
    fromRow ??= Object.keys(body).filter((key) => key in row && (typeof row[key] !== 'object' || row[key] === null));
    const answer = { ...body };
    for (const key of fromRow) answer[key] = row[key];
    response.json(answer);
  };
}

/**
 * Returns a handler that has its response in memory.
 * @param {Body} body
 * @returns {import('express').RequestHandler}
 */
function fromMemory(body) {
  return (_request, response) => {
    response.json(body);
  };
}

process.once('message', (/** @type {Instructions} */ { path, query, body }) => {
  const app = express();
  app.get(path, query ? fromDatabase(query, body) : fromMemory(body));
  const server = app.listen(0, '127.0.0.1', () => {
    server.keepAliveTimeout = 75_000;
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    process.send?.({ port });
  });
});
process.once('disconnect', () => process.exit(0));
