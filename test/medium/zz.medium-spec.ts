import { join } from 'node:path';
import { DataSource } from 'typeorm';
it('db', async () => {
  console.log(process.env['TEST_DATABASE_ADMIN_URL'], process.env['TEST_REDIS_URL'], process.env['TMPDIR']);
  const ds = new DataSource({ type: 'postgres', url: process.env['TEST_DATABASE_ADMIN_URL']!, entities: [join(__dirname, '../../src/platform/**/*.entity.ts')] });
  await ds.initialize();
  console.log(await ds.query('select 1'), ds.entityMetadatas.map((m) => m.tableName));
  await ds.destroy();
});
