// Answers the same request as a good engineer would by hand: with Express and, if the product reads the database, with the same
// statements, prepared, through a pool with the same settings. It neither identifies the caller nor writes a log. The parent
// process sends the instructions; this process ends with its parent.
import express from 'express';
import pg from 'pg';

/**
 * The body of an answer.
 * @typedef {Record<string, unknown>} Body
 *
 * The statements of a read, in order. The rows of the first one are the answer. `id` names the parameter of the request that
 * has the id of the record, and the index of the first statement's parameter that it becomes.
 * @typedef {{sql: string, params: unknown[]}} Statement
 * @typedef {{pool: import('pg').PoolConfig, statements: Statement[], id?: {name: string, param: number}}} Query
 *
 * Instructions of the parent: the path and the body of the response, and `query` if the database must be read for it. A body
 * with a list `data` has one entry per row; any other body is made of the only row.
 * @typedef {{path: string, body: Body, query?: Query}} Instructions
 */

/**
 * Returns a handler that reads the database.
 * @param {Query} query
 * @param {Body} body
 * @returns {import('express').RequestHandler}
 */
function fromDatabase({ pool: poolOptions, statements, id }, body) {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool(poolOptions);
  /** @param {number} index @param {unknown[]} values @returns {Promise<Body[]>} */
  const rowsOf = async (index, values) => {
    // PostgreSQL plans a named statement once per connection instead of at each request.
    const { rows } = await pool.query({ name: `read${index}`, text: statements[index]?.sql ?? '', values });
    return rows;
  };
  const list = Array.isArray(body.data) ? /** @type {Body[]} */ (body.data) : null;
  const fill = filler(list?.[0] ?? body);
  return async (request, response) => {
    const [first, ...others] = statements;
    const params = first?.params ?? [];
    const rows = await rowsOf(0, id ? params.with(id.param, Number(request.query[id.name])) : params);
    for (const [index, other] of others.entries()) await rowsOf(index + 1, other.params);
    const [row] = rows;
    if (!row) response.status(404).json({ error: 'Not found' });
    else response.json(list ? { ...body, data: rows.map(fill) } : fill(row));
  };
}

/**
 * Returns a function that makes an answer of a row. The product computes some of the fields in memory; here they come from a
 * recorded answer.
 * @param {Body} recorded
 * @returns {(row: Body) => Body}
 */
function filler(recorded) {
  /** @type {string[] | undefined} */
  let fromRow;
  return (row) => {
    fromRow ??= Object.keys(recorded).filter((key) => key in row && isPlain(row[key]));
    const answer = { ...recorded };
    for (const key of fromRow) answer[key] = row[key];
    return answer;
  };
}

/** @param {unknown} value */
function isPlain(value) {
  return typeof value !== 'object' || value === null || value instanceof Date;
}

/**
 * Returns a handler that has its response in memory, serialized once.
 * @param {Body} body
 * @returns {import('express').RequestHandler}
 */
function fromMemory(body) {
  const json = Buffer.from(JSON.stringify(body));
  /** @type {string | undefined} */
  let etag;
  return (_request, response) => {
    response.type('json');
    if (etag !== undefined) response.set('ETag', etag);
    response.send(json);
    etag ??= response.get('ETag');
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
