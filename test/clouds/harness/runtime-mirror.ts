import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, createReadStream, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type LoopbackServer, serveOnLoopback } from '../../fakes/http/loopback-server';
import { readRuntime } from '../../e2e/harness/platform';

/** Serves the Node, Java, Python and Spark of the tests as archives of a mirror. */
export class RuntimeMirror {
  /** Requested archives, in order. */
  readonly served: string[] = [];
  readonly paths: string[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'mirror-'));
  private server: LoopbackServer | null = null;

  static async open(): Promise<RuntimeMirror> {
    const mirror = new RuntimeMirror();
    try {
      await mirror.start();
      return mirror;
    } catch (error) {
      await mirror.close();
      throw error;
    }
  }

  /** Settings of a worker that uses the mirror. */
  get env(): Record<string, string> {
    return { RUNTIME_MIRROR: this.server?.url ?? '', RUNTIME_MANIFEST: this.manifest };
  }

  async close(): Promise<void> {
    await this.server?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get manifest(): string {
    return join(this.folder, 'manifest.json');
  }

  private async start(): Promise<void> {
    const { javaHome, sparkHome, sparkVersion, python } = readRuntime();
    const items = [
      await this.pack('node', process.version, this.nodeFolder()),
      // The folder of the tests' Java contains links.
      await this.pack('java', '17', dirname(realpathSync(join(javaHome, 'lib')))),
      await this.pack('python', '3', join(python, '..', '..')),
      { ...(await this.pack('spark', sparkVersion, sparkHome)), spark_version: sparkVersion },
    ];
    writeFileSync(this.manifest, JSON.stringify({ items }));
    this.server = await serveOnLoopback((request, response) => {
      const path = basename(request.url ?? '');
      this.served.push(path);
      createReadStream(join(this.folder, path))
        .on('error', () => response.writeHead(404).end())
        .pipe(response);
    });
  }

  /** Packs only the program, because its folder may be one of the whole system. */
  private nodeFolder(): string {
    const folder = join(this.folder, 'node');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    copyFileSync(process.execPath, join(folder, 'bin', 'node'));
    return folder;
  }

  private async pack(name: string, version: string, folder: string): Promise<object> {
    const path = `${name}.tar.gz`;
    const file = join(this.folder, path);
    // Links stay links, and may be broken in the archive. Their targets outside exist on this machine.
    const words = ['-I', 'gzip -1', '-cf', file, '-C', dirname(folder), basename(folder)];
    await promisify(execFile)('tar', words);
    this.paths.push(path);
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    return { name, version, path, sha256: hash.digest('hex') };
  }
}
