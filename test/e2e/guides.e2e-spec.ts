import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../scripts/embedded/ports.mjs';
import { prepareAsQuickstart } from './harness/as-quickstart';
import { guidePages, runGuide } from './harness/guide';
import { SharedPlatform } from './harness/shared-platform';

const ROOT = join(__dirname, '..', '..');
const BUCKET = 'guide';
/** With an older curl than the guides require, their tests are skipped, which the test run counts as a failure. */
const hasCurl = spawnSync('curl', ['--fail-with-body', '--version']).status === 0;

// Real: the built processes and Spark, a tenant with the quickstart's demo, the Hive metastore that its guide starts,
// Beeline and impyla. Fake: the bucket, which moto serves.
describe('the guides', () => {
  let platform: SharedPlatform;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    platform = await SharedPlatform.join('e2e', 'guides');
    folder = mkdtempSync(join(tmpdir(), 'guides-'));
    // A reader is in the project's folder, where the blocks find these two.
    mkdirSync(join(folder, '.runtime'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await prepareAsQuickstart(platform, join(folder, '.runtime', 'client.env'));
    env = await environment();
  });

  afterAll(async () => {
    await platform?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  (hasCurl ? it : it.skip).each(guidePages())('run as they are written: %s', (page) => runGuide(page, folder, env));
});

/** Returns the environment of a reader: the programs that the pages require, a bucket, and a free port for the metastore. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const store = process.env['TEST_EC2_URL'] ?? '';
  const created = await fetch(`${store}/${BUCKET}`, { method: 'PUT' });
  if (!created.ok) throw new Error(`The bucket was not created: ${created.status} ${await created.text()}`);
  const programs = [dirname(process.env['TEST_SQL_CLIENT_PYTHON'] ?? ''), dirname(process.execPath)];
  return {
    ...process.env,
    PATH: [...programs, process.env['PATH']].join(':'),
    S3_URL: store,
    METASTORE_PORT: String(await freePort()),
  };
}
