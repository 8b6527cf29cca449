// Accepts a run as a good engineer would by hand: a handler inserts the rows of a submission in one transaction, each with its
// own prepared statement. It checks nothing and identifies nobody. The parent process sends the instructions; this process ends
// with its parent.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

/**
 * A row of a table: values by column. The value `$key` is new in each request, and `$name` is an id that the request created
 * before.
 * @typedef {{table: string, values: Record<string, unknown>, makes?: {column: string, name: string}}} Row
 * @typedef {{url: string, poolSize: number, rows: Row[]}} Instructions
 */

/** @param {Row} row */
function statementOf({ table, values, makes }) {
  const columns = Object.keys(values);
  const places = columns.map((_, index) => `$${index + 1}`).join(', ');
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})${makes ? ` RETURNING ${makes.column}` : ''}`;
}

process.once('message', (/** @type {Instructions} */ { url, poolSize, rows }) => {
  const pool = new pg.Pool({ connectionString: url, max: poolSize });
  // PostgreSQL plans a named statement once per connection instead of at each request.
  const statements = rows.map((row) => ({ ...row, name: row.table, text: statementOf(row) }));
  const insert = async () => {
    /** @type {Record<string, unknown>} */
    const known = { $key: randomUUID() };
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      for (const { name, text, values: given, makes } of statements) {
        const values = Object.values(given).map((value) =>
          typeof value === 'string' && value in known ? known[value] : value,
        );
        const { rows: made } = await client.query({ name, text, values });
        if (makes) known[makes.name] = made[0][makes.column];
      }
      await client.query('COMMIT');
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
    return known;
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      insert().then(
        (known) => {
          const body = JSON.stringify(known);
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
          response.end(body);
        },
        (/** @type {Error} */ error) => {
          response.writeHead(500, { 'content-length': Buffer.byteLength(error.message) });
          response.end(error.message);
        },
      );
    });
  });
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    process.send?.({ port });
  });
});
process.once('disconnect', () => process.exit(0));
