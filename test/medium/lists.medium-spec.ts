import type { DataSource } from 'typeorm';
import { VolumeConfsRepository } from '../../src/modules/infrastructure/environments/volumes/volume-confs.repository';
import { COUNTED_BEYOND, MAX_ALL } from '../../src/platform/kernel/dto/page';
import { KINDS, tableOf } from '../samples';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { wholeApi, type TestAnswer } from './harness/test-api';
import { vacuumWhole } from './harness/vacuum';

const MANY = 20_000;
/**
 * Both tenants together have no more than the 30,000 rows that ANALYZE samples by default, so it reads all of
 * them and the plans do not depend on the sample.
 */
const MANY_OF_OTHERS = 10_000;
const LIMIT = 1_000;
/** An id of the reference data. */
const GP2_OF_AWS = 3;
const VOLUMES = '/machine/volumes';

/** Tables that are searched by a part of the name. */
const SEARCHED = [...KINDS.map(([kind]) => tableOf(kind)), 'runs', 'tenants', 'workspace_files'].sort();

interface Volume {
  volume_conf_id: number;
  volume_conf_name: string;
}

// Real: the whole API and PostgreSQL.
describe('lists', () => {
  const api = wholeApi();
  let token: string;
  let mine: Tenancy;
  let foreign: Tenancy;

  beforeAll(async () => {
    mine = await makeTenancy(api.database.manager, 'mine');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    await fill();
    token = await api.login();
    await select(mine);
  });

  /** Inserts volumes of both tenants in turn; a word in the names of the other tenant's volumes occurs in none of mine. */
  async function fill(): Promise<void> {
    await api.database.transaction(async (tx) => {
      // VACUUM does not mark unflushed rows as visible to all, so an index-only scan would read the table.
      await tx.query('SET LOCAL synchronous_commit = on');
      await tx.query(
        `INSERT INTO volume_confs (tenant_id, name, encrypted, size, disk_type_id, machine_volume_num, machine_volume_strip_num)
         SELECT t.id::uuid, concat_ws('-', t.word, (ARRAY['Prod', 'stage', 'dev'])[1 + n % 3], 'scratch', n,
           CASE WHEN n % 5000 = 7 THEN 'zeppelin' END), true, 100, 1, 1, 1
         FROM (VALUES ($1, NULL, ${MANY}), ($2, 'acme', ${MANY_OF_OTHERS})) AS t(id, word, count)
         CROSS JOIN generate_series(1, count) n ORDER BY n`,
        [mine.tenantId, foreign.tenantId],
      );
    });
    await vacuumWhole(api.database, 'volume_confs');
  }

  const select = async (tenancy: Tenancy) => {
    expect((await api.call('POST', `/user/select/${tenancy.tenantId}`, { token })).status).toBe(201);
  };
  const get = (path: string): Promise<TestAnswer> => api.call('GET', path, { token });
  const search = (part: string, more = '') =>
    get(`${VOLUMES}/search?volume_conf_name=${encodeURIComponent(part)}${more}`);
  const names = ({ body }: TestAnswer): string[] => body.data.map((volume: Volume) => volume.volume_conf_name);

  /** Follows `next_page` to its end. */
  async function pages(path: string): Promise<TestAnswer[]> {
    const answers: TestAnswer[] = [];
    for (let next: number | undefined = 1; next !== undefined; next = answers.at(-1)?.body.result_set.next_page) {
      answers.push(await get(`${path}&pageNumber=${next}`));
    }
    return answers;
  }

  describe('are planned', () => {
    interface PlanNode {
      'Node Type': string;
      'Relation Name'?: string;
      'Index Name'?: string;
      Plans?: PlanNode[];
    }

    /** Returns the scans of each statement of a list, in order: node types with their indexes. */
    async function plansOf(partOfName?: string): Promise<string[][]> {
      const plans: string[][] = [];
      const query = async (sql: string, params: unknown[]) => {
        const [row] = await api.database.query(`EXPLAIN (FORMAT JSON) ${sql}`, params);
        plans.push(scansIn(row['QUERY PLAN'][0].Plan));
        return api.database.query(sql, params);
      };
      const repository = new VolumeConfsRepository({ manager: { query } } as unknown as DataSource);
      const scope = { tenantId: mine.tenantId, userId: mine.userId, username: 'mine' };
      await repository.list(scope, { limit: 100, pageNumber: 1 }, undefined, partOfName);
      return plans;
    }

    function scansIn(node: PlanNode): string[] {
      const below = (node.Plans ?? []).flatMap(scansIn);
      const own = node['Node Type'].includes('Scan') && (node['Relation Name'] ?? 'volume_confs') === 'volume_confs';
      return own ? [`${node['Node Type']} ${node['Index Name'] ?? ''}`.trim(), ...below] : below;
    }

    const walk = 'Index Only Scan ix_volume_confs_list';
    const byKey = expect.stringMatching(/^Index Scan PK_/);

    it('with the index of the list, for the page and the count', async () => {
      expect(await plansOf()).toEqual([expect.arrayContaining([walk, byKey]), [walk]]);
    });

    it('with trigrams for a part that few names contain, and newest first for one that many contain', async () => {
      const [rare] = await plansOf('zeppelin');
      expect(rare).toEqual(expect.arrayContaining(['Bitmap Index Scan ix_volume_confs_name_part', byKey]));
      expect(await plansOf('prod')).toEqual([expect.arrayContaining([walk, byKey]), [walk]]);
    });

    it('with a trigram index for every name that is searched by a part', async () => {
      const indexes: { table: string; definition: string }[] = await api.database.query(
        `SELECT tablename AS "table", indexdef AS definition FROM pg_indexes WHERE indexname LIKE '%\\_name\\_part' ORDER BY 1`,
      );
      expect(indexes.filter(({ definition }) => !definition.includes('gin_trgm_ops'))).toEqual([]);
      expect(indexes.map(({ table }) => table)).toEqual(SEARCHED);
    });
  });

  describe('with more records than are counted', () => {
    it('reach every record once, newest first, by following next_page', async () => {
      const answers = await pages(`${VOLUMES}?limit=${LIMIT}`);
      const ids = answers.flatMap(({ body }) => body.data.map((volume: Volume) => volume.volume_conf_id));
      expect(answers).toHaveLength(MANY / LIMIT);
      expect(new Set(ids).size).toBe(MANY);
      expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
    });

    it('count up to a bound, and exactly once no more records than the bound follow', async () => {
      const counted = async (pageNumber: number, limit = LIMIT) =>
        (await get(`${VOLUMES}?limit=${limit}&pageNumber=${pageNumber}`)).body.result_set;
      expect(await counted(1)).toEqual({
        current_page: 1,
        total_objects: LIMIT + COUNTED_BEYOND,
        total_pages: 1 + COUNTED_BEYOND / LIMIT,
        limit: LIMIT,
        next_page: 2,
      });
      const lastUncertain = (MANY - COUNTED_BEYOND) / LIMIT - 1;
      expect((await counted(lastUncertain)).total_objects).toBe(MANY - LIMIT);
      for (const page of [lastUncertain + 1, lastUncertain + 2, MANY / LIMIT]) {
        expect(await counted(page)).toMatchObject({ total_objects: MANY, total_pages: MANY / LIMIT });
      }
      expect(await counted(MANY / LIMIT)).not.toHaveProperty('next_page');
    });

    it('count exactly on an empty page beyond the end', async () => {
      const { body } = await get(`${VOLUMES}?limit=${LIMIT}&pageNumber=${MANY / LIMIT + 5}`);
      expect(body.data).toEqual([]);
      expect(body.result_set).toMatchObject({ total_objects: MANY, total_pages: MANY / LIMIT });
      expect(body.result_set).not.toHaveProperty('next_page');
    });

    it('refuse to return all of them at once', async () => {
      const { status, body } = await get(`${VOLUMES}?all=true`);
      expect([status, body.error_code, body.details]).toEqual([400, 'REQUEST.TOO_MANY_RECORDS', { most: MAX_ALL }]);
    });
  });

  describe('with few records', () => {
    let few: Tenancy;

    beforeAll(async () => {
      few = await makeTenancy(api.database.manager, 'few');
      for (let n = 1; n <= 6; n += 1) {
        await insertPlain(api.database.manager, 'volume_confs', { tenant_id: few.tenantId, name: `v${n}`, size: 1 });
      }
      await api.database.query(
        `UPDATE volume_confs SET to_date = now() WHERE tenant_id = $1 AND name IN ('v2', 'v5')`,
        [few.tenantId],
      );
      await select(few);
    });

    afterAll(() => select(mine));

    it.each([
      ['a page that ends before the last record', 'limit=3', ['v6', 'v4', 'v3'], { total_pages: 2, next_page: 2 }],
      ['a last page that is not full', 'limit=3&pageNumber=2', ['v1'], { current_page: 2, total_pages: 2 }],
      ['a last page that is full', 'limit=2&pageNumber=2', ['v3', 'v1'], { current_page: 2, total_pages: 2 }],
      ['all of them', 'all=true&limit=1', ['v6', 'v4', 'v3', 'v1'], { total_pages: 1, limit: 4 }],
    ])('return %s, and count the current ones', async (_what, query, expected, resultSet) => {
      const answer = await get(`${VOLUMES}?${query}`);
      expect(names(answer)).toEqual(expected);
      expect(answer.body.result_set).toMatchObject({ total_objects: 4, ...resultSet });
      expect('next_page' in answer.body.result_set).toBe('next_page' in resultSet);
    });
  });

  describe('searched by part of a name', () => {
    it('find it in any letter case, only in the own tenant, and count the records', async () => {
      const { body } = await search('ZEPPELIN');
      expect(body.result_set).toEqual({ current_page: 1, total_objects: 4, total_pages: 1, limit: 100 });
      expect(names({ body } as TestAnswer).every((name) => name.endsWith('-zeppelin'))).toBe(true);
      expect((await search('acme')).body.data).toEqual([]);
    });

    it('return the first page of very many, and every record by following next_page', async () => {
      const first = await search('prod', '&limit=10');
      expect(first.body.data).toHaveLength(10);
      expect(first.body.result_set).toMatchObject({ total_objects: 10 + COUNTED_BEYOND, next_page: 2 });
      const answers = await pages(`${VOLUMES}/search?volume_conf_name=prod&limit=${LIMIT}`);
      const found = answers.flatMap(names);
      expect(new Set(found).size).toBe(found.length);
      expect(found).toHaveLength(Math.floor(MANY / 3));
    });

    it.each([
      ['-1', 10],
      ['zz', 0],
      ['%', 0],
      ['_', 0],
      ['scratch-12345', 1],
    ])('take %j literally, with or without three letters in a row', async (part, expected) => {
      expect((await search(part, '&limit=10')).body.data).toHaveLength(expected);
    });
  });

  describe('filtered by references of the records', () => {
    // harness/records.ts creates all records for OnPrem and x86_64.
    it.each([
      ['/machine/boot_disk_images?architecture_type=x86_64', '/machine/boot_disk_images?architecture_type=aarch64'],
      ['/credential_configs?cloud_provider=OnPrem', '/credential_configs?cloud_provider=AWS'],
      ['/cluster/cloud/environments?architecture_type=x86_64', '/cluster/cloud/environments?architecture_type=aarch64'],
      ['/cluster/confs?cloud_provider=OnPrem', '/cluster/confs?cloud_provider=AWS'],
      ['/cluster/confs?architecture_type=x86_64', '/cluster/confs?architecture_type=aarch64'],
      ['/clusters?cloud_providers=AWS&cloud_providers=OnPrem', '/clusters?cloud_providers=AWS'],
      ['/clusters?cluster_conf_name=mine', '/clusters?cluster_conf_name=foreign'],
      ['/clusters?machine_type_ids=1486', '/clusters?machine_type_ids=1487'],
    ])('%s finds the record, %s does not', async (matching, other) => {
      expect((await get(matching)).body).toMatchObject({ data: [{}], result_set: { total_objects: 1 } });
      expect((await get(other)).body).toMatchObject({ data: [], result_set: { total_objects: 0 } });
    });

    it('volumes by the provider of their disk type', async () => {
      const values = { tenant_id: mine.tenantId, name: 'of another provider', disk_type_id: GP2_OF_AWS };
      const { volume_conf_id: id } = await insertPlain(api.database.manager, 'volume_confs', values);
      const ids = async (query: string) =>
        (await get(`${VOLUMES}?${query}`)).body.data.map((volume: Volume) => volume.volume_conf_id);
      expect(await ids('cloud_provider=AWS')).toEqual([id]);
      expect(await ids('cloud_provider=GCP&limit=1')).not.toContain(id);
      expect(await ids('cloud_provider=OCI')).toEqual([]);
      await api.database.query('DELETE FROM volume_confs WHERE volume_conf_id = $1', [id]);
    });
  });
});
