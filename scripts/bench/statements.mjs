import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectRoot } from '../embedded/install.mjs';

/** Loads a built file; the source gives its type. */
export const load = createRequire(join(projectRoot, 'package.json'));
load('reflect-metadata');

/**
 * Returns the product's own connection settings, because the time that PostgreSQL plans a query depends on them.
 * @param {string} url
 * @param {number} poolSize
 * @returns {import('pg').PoolConfig}
 */
export function poolOptions(url, poolSize) {
  /** @type {typeof import('../../src/database/data-source.js')} */
  const { createDataSource } = load('./dist/src/database/data-source.js');
  const config = { url, poolSize, statementTimeoutMs: 30_000, migrationTimeoutMs: 0, migrateOnStart: false };
  /** @typedef {Extract<import('typeorm').DataSourceOptions, {type: 'postgres'}>} PostgresOptions */
  const options = /** @type {PostgresOptions} */ (createDataSource(config, 'bare-express').options);
  // A class cannot be sent to another process, so the baseline names its statements itself.
  const { Client: _, ...extra } = options.extra;
  return { ...extra, connectionString: options.url, max: options.poolSize };
}

/**
 * Returns the statements by which a repository reads. They come from the built repository itself, so they follow every change
 * there.
 * @param {(dataSource: import('typeorm').DataSource) => Promise<unknown>} read
 * @param {number} [rows] that each statement returns
 * @returns {Promise<import('./bare-express.mjs').Statement[]>}
 */
export async function statementsOf(read, rows = 1) {
  /** @type {import('./bare-express.mjs').Statement[]} */
  const statements = [];
  /** @param {string} sql @param {unknown[]} params */
  const query = async (sql, params) => {
    statements.push({ sql, params });
    return Array.from({ length: rows }, () => ({}));
  };
  // A repository needs nothing else of its data source to read.
  await read(/** @type {import('typeorm').DataSource} */ (/** @type {unknown} */ ({ manager: { query } })));
  return statements;
}

/**
 * Returns whose records a session reads.
 * @param {import('../demo/session.mjs').Session} session
 */
export async function scopeOf(session) {
  const { user_id: userId } = await session.json('GET', '/user/info');
  return { tenantId: String(session.tenantId), userId: Number(userId), username: '' };
}

/**
 * True if both bodies have about the same size.
 * @param {import('./bare-express.mjs').Body} product
 * @param {import('./bare-express.mjs').Body} bare
 */
export function isOfSameSize(product, bare) {
  const [ours, theirs] = [JSON.stringify(product).length, JSON.stringify(bare).length];
  return Math.abs(ours - theirs) < ours * 0.1;
}
