import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hash } from '@node-rs/argon2';
import pg from 'pg';
import { login } from '../demo/session.mjs';
import { MeasuringProcesses } from './processes.mjs';

const run = promisify(execFile);

const FILES = 10_000;
const GROUPS = 1_000;
const USERS = 10_000;
const SECONDS = 1;
const PASSWORD = 'the password of a member';
/** Role id that the first start assigns. */
const ROLE_USER = 3;
const VIEW = 0;

/** Names of the levels of directories of ten entries each. */
const LEVELS = ['tens', 'hundreds', 'thousands', 'files'];

/**
 * Prepares the sides of the comparison: copies per second of a directory with 10,000 small files in directories of ten, by
 * `cp -r` and in a workspace.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @returns {Promise<import('./comparison.mjs').Sides>}
 */
export async function prepareCopies(platform) {
  const { session } = platform;
  const { workspace_id: id } = await session.json('POST', '/workspace', { body: { name: 'copies' } });
  const workspace = { workspace_id: id };
  const folder = join(platform.folder, 'copies');
  const bytes = Buffer.alloc(100, 'x');
  for (let file = 0; file < 10; file += 1) {
    await session.json('POST', '/workspace/files', { query: { ...workspace, path: `${LEVELS[0]}/${file}` }, bytes });
  }
  /** @param {string} from @param {string} to */
  const copy = (from, to) => {
    const query = { ...workspace, source_file_path: from, destination_file_path: to };
    return session.json('POST', '/workspace/file/copy', { query });
  };
  for (const [level, name] of LEVELS.slice(1).entries()) {
    for (let part = 0; part < 10; part += 1) await copy(LEVELS[level] ?? '', `${name}/${part}`);
  }
  for (let directory = 0; directory < FILES / 10; directory += 1) {
    const path = join(folder, 'files', ...String(directory).padStart(3, '0'));
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 10; file += 1) writeFileSync(join(path, String(file)), bytes);
  }
  /** @param {() => Promise<unknown>} work */
  const perSecond = async (work) => {
    const started = performance.now();
    await work();
    return (FILES / (performance.now() - started)) * 1_000;
  };
  return {
    baseline: async () => {
      const target = join(folder, 'copy');
      const figure = await perSecond(() => run('cp', ['-r', join(folder, 'files'), target]));
      rmSync(target, { recursive: true });
      return figure;
    },
    product: async () => {
      const figure = await perSecond(() => copy('files', 'copy'));
      await session.json('DELETE', '/workspace/file', { query: { ...workspace, file_path: 'copy' } });
      return figure;
    },
  };
}

/**
 * Prepares the sides of the comparison: milliseconds to the response about a workspace that a user may view through a group. The
 * group is the only one of the workspace, or one of a thousand with ten thousand users.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 * @returns {Promise<import('./comparison.mjs').Sides & {close: () => Promise<unknown>}>}
 */
export async function preparePermissions(platform, signal) {
  const { session } = platform;
  const made = [];
  for (const name of ['of-one', 'of-many'])
    made.push(await session.json('POST', '/workspace', { body: { name, description: 'Shared by groups' } }));
  const [one, many] = made.map(({ workspace_id: id }) => Number(id));
  await fill(platform.postgres.url, { tenantId: made[0].tenant_id, one, many });
  const member = await login({ baseUrl: session.baseUrl, username: 'member-1', password: PASSWORD, signal });
  const processes = new MeasuringProcesses(signal);
  const load = processes.startLoad();
  const headers = { authorization: `Bearer ${member.token}` };
  const port = Number(new URL(session.baseUrl).port);
  /** @param {number | undefined} id */
  const milliseconds = (id) => async () => {
    const path = `/api/v1/workspace?workspace_id=${id}`;
    return 1_000 / (await load({ port, path, headers, connections: 1, seconds: SECONDS })).perSecond;
  };
  return { baseline: milliseconds(one), product: milliseconds(many), close: () => processes.close() };
}

/**
 * @param {string} url
 * @param {{tenantId: string, one: number | undefined, many: number | undefined}} workspaces
 */
async function fill(url, { tenantId, one, many }) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `WITH made AS (
         INSERT INTO users (username, email, password_hash)
         SELECT 'member-' || n, 'member-' || n || '@example.org', $1 FROM generate_series(1, $2::int) n
         RETURNING user_id, username)
       INSERT INTO user_roles (user_id, role_id, tenant_id) SELECT user_id, $3, $4 FROM made`,
      [await hash(PASSWORD), USERS, ROLE_USER, tenantId],
    );
    await client.query(
      `INSERT INTO groups (group_name, owner_tenant_id) SELECT 'team-' || n, $2 FROM generate_series(1, $1::int) n`,
      [GROUPS, tenantId],
    );
    await client.query(
      `INSERT INTO group_users (group_id, user_id)
       SELECT g.group_id, u.user_id FROM users u
       JOIN groups g ON g.group_name = 'team-' || (1 + (substr(u.username, 8)::int - 1) % $1)
       WHERE u.username LIKE 'member-%'`,
      [GROUPS],
    );
    const give = `INSERT INTO workspace_groups (tenant_id, workspace_id, group_id, permission_id)
      SELECT $1, $2, group_id, $3 FROM groups WHERE group_name`;
    await client.query(`${give} LIKE 'team-%'`, [tenantId, many, VIEW]);
    await client.query(`${give} = 'team-1'`, [tenantId, one, VIEW]);
    await client.query('COMMIT');
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}
