import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { prepareAsQuickstart } from './as-quickstart';
import { runGuide } from './guide';
import { PASSWORD } from './people';
import { copySdk } from './sdk-sources';
import { SharedPlatform } from './shared-platform';

const execFileAsync = promisify(execFile);
const ROOT = join(__dirname, '..', '..', '..');
const PYTHON = process.env['TEST_PYTHON_SDK'] ?? '';
const LIMIT_MS = 120_000;

/** Examples that start a cluster of their own or a driver for each language, or need what a quickstart lacks. */
const DEAR = ['03-notebook', '05-function', '06-object-store', '07-tables', '09-autoscaling', '13-dagster'];

const NAMES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** Returns the examples that `npm test` runs, and those that only `npm run test:long` runs. */
export function examples(): Record<'usual' | 'dear', string[]> {
  return { usual: NAMES.filter((name) => !DEAR.includes(name)), dear: NAMES.filter((name) => DEAR.includes(name)) };
}

/** A reader in the project's folder beside a quickstart, with both SDKs as they are built. */
export class ExampleReader {
  private constructor(
    private readonly platform: SharedPlatform,
    private readonly folder: string,
  ) {}

  /** @param name of the tenant */
  static async start(name: string): Promise<ExampleReader> {
    const folder = mkdtempSync(join(tmpdir(), 'examples-'));
    const reader = new ExampleReader(await SharedPlatform.join('e2e', name), folder);
    mkdirSync(join(folder, '.runtime'));
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    const clientFile = join(folder, '.runtime', 'client.env');
    try {
      await Promise.all([reader.buildSdks(), prepareAsQuickstart(reader.platform, clientFile)]);
      return reader;
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /** The port of the Maven repository of jobs, which nobody serves yet. */
  get mavenPort(): number {
    return this.platform.mavenPort;
  }

  /** Runs the commands of an example's page, with the Python of PYTHON. Throws an error if it does not print what the page says. */
  run(name: string, variables: Readonly<Record<string, string>> = {}): Promise<void> {
    return runGuide(join('..', 'examples', name, 'README.md'), this.folder, {
      ...process.env,
      PATH: [dirname(variables['PYTHON'] ?? PYTHON), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: this.folder,
      PYTHONPATH: join(this.folder, 'python', 'src'),
      MSP_URL: this.platform.baseUrl,
      MSP_USERNAME: this.platform.username,
      MSP_PASSWORD: PASSWORD,
      MSP_TENANT: this.platform.tenantId,
      ...variables,
    });
  }

  /** Checks the Python of all examples, their calls of the SDK included. Throws an error with what mypy found. */
  async checkPython(): Promise<void> {
    const flat = join(this.folder, 'types');
    mkdirSync(flat);
    // mypy wants modules with names of their own, and no folder whose name begins with a digit.
    for (const path of readdirSync(join(this.folder, 'examples'), { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('.py')) {
        const module = `example_${path.replaceAll(/[^\w.]/g, '_')}`;
        copyFileSync(join(this.folder, 'examples', path), join(flat, module));
      }
    }
    const options = ['--ignore-missing-imports', '--follow-imports=silent'];
    const env = { ...process.env, MYPYPATH: join(this.folder, 'python', 'src') };
    await execFileAsync(PYTHON, ['-m', 'mypy', ...options, '.'], { cwd: flat, env, timeout: LIMIT_MS }).catch(
      (error: { stdout?: string; stderr?: string }) => {
        throw new Error(`mypy found:\n${error.stdout ?? ''}${error.stderr ?? ''}`, { cause: error });
      },
    );
  }

  async close(): Promise<void> {
    await this.platform.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async buildSdks(): Promise<void> {
    const modules = join(this.folder, 'node_modules');
    copySdk('python', join(this.folder, 'python'));
    copySdk('typescript', join(modules, 'managed-spark'));
    symlinkSync(join(ROOT, 'node_modules', 'typescript'), join(modules, 'typescript'));
    await Promise.all([
      execFileAsync(PYTHON, ['generate.py'], { cwd: join(this.folder, 'python'), timeout: LIMIT_MS }),
      execFileAsync(process.execPath, ['build.mjs'], { cwd: join(modules, 'managed-spark'), timeout: LIMIT_MS }),
    ]);
  }
}
