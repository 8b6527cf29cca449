import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { prepareAsQuickstart } from './harness/as-quickstart';
import { runGuide } from './harness/guide';
import { PASSWORD } from './harness/people';
import { copySdk } from './harness/sdk-sources';
import { SharedPlatform } from './harness/shared-platform';

const execFileAsync = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const PYTHON = process.env['TEST_PYTHON_SDK'] ?? '';
const LIMIT_MS = 120_000;
const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

// Real: the built processes and Spark, a tenant with the quickstart's demo, curl, and both SDKs as they are built.
describe('the examples', () => {
  let platform: SharedPlatform;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'examples-'));
    platform = await SharedPlatform.join('e2e', 'examples');
    // A reader is in the project's folder, where the examples and this file are.
    mkdirSync(join(folder, '.runtime'));
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    await Promise.all([buildSdks(), prepareAsQuickstart(platform, join(folder, '.runtime', 'client.env'))]);
    env = {
      ...process.env,
      PATH: [dirname(PYTHON), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: folder,
      PYTHONPATH: join(folder, 'python', 'src'),
      MSP_URL: platform.baseUrl,
      MSP_USERNAME: platform.username,
      MSP_PASSWORD: PASSWORD,
      MSP_TENANT: platform.tenantId,
    };
  });

  afterAll(async () => {
    await platform?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  async function buildSdks(): Promise<void> {
    const modules = join(folder, 'node_modules');
    copySdk('python', join(folder, 'python'));
    copySdk('typescript', join(modules, 'managed-spark'));
    symlinkSync(join(ROOT, 'node_modules', 'typescript'), join(modules, 'typescript'));
    await Promise.all([
      execFileAsync(PYTHON, ['generate.py'], { cwd: join(folder, 'python'), timeout: LIMIT_MS }),
      execFileAsync(process.execPath, ['build.mjs'], { cwd: join(modules, 'managed-spark'), timeout: LIMIT_MS }),
    ]);
  }

  it('there are some', () => expect(EXAMPLES.length).toBeGreaterThan(2));

  it.each(EXAMPLES)('%s prints what its page says', (name) =>
    runGuide(join('..', 'examples', name, 'README.md'), folder, env),
  );
});
