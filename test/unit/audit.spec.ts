import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LoopbackServer, serveOnLoopback } from '../fakes/http/loopback-server';

const root = join(__dirname, '..', '..');

/** Advisories of a registry, by package name. */
type Advisories = Record<string, { severity: string; vulnerable_versions: string }>;

describe('npm run audit', () => {
  let registry: LoopbackServer;

  // npm caches advisories. With the default cache, the next real audit would find these.
  const cache = mkdtempSync(join(tmpdir(), 'audit-'));

  afterEach(() => registry.stop());
  afterAll(() => rmSync(cache, { recursive: true, force: true }));

  let ids = 0;

  async function audit(advisories: Advisories | null): Promise<{ status: number; output: string }> {
    ids += 10;
    registry = await serveOnLoopback((request, response) => {
      const isQuestion = request.method === 'POST' && request.url?.endsWith('/security/advisories/bulk');
      if (!isQuestion || !advisories) {
        response.writeHead(isQuestion ? 405 : 404).end();
        return;
      }
      const answer = Object.entries(advisories).map(([name, advisory], index) => [
        name,
        [{ id: ids + index, url: 'https://example.org/1', title: 'A hole', cwe: [], cvss: { score: 9 }, ...advisory }],
      ]);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Object.fromEntries(answer)));
    });
    const env = { ...process.env, npm_config_registry: registry.url, npm_config_cache: cache };
    const script = join(root, 'scripts', 'audit.mjs');
    return promisify(execFile)(process.execPath, [script], { env }).then(
      ({ stdout }) => ({ status: 0, output: stdout }),
      (error: { code: number; stdout: string }) => ({ status: error.code, output: error.stdout }),
    );
  }

  it('fails for a high advisory of a runtime dependency, and names it', async () => {
    const { status, output } = await audit({ express: { severity: 'high', vulnerable_versions: '*' } });
    expect(output).toMatch(/^high: express( \*)?: A hole https:\/\/example\.org\/1$/m);
    expect(status).toBe(1);
  });

  it('ignores lower severities, and advisories of development tools', async () => {
    const { status, output } = await audit({
      express: { severity: 'moderate', vulnerable_versions: '*' },
      jest: { severity: 'critical', vulnerable_versions: '*' },
    });
    expect(output).toContain('0 packages of high or critical severity');
    expect(status).toBe(0);
  });

  it('fails if the advisories cannot be read', async () => {
    const { status, output } = await audit(null);
    expect(output).toContain('Nothing was audited: 405');
    expect(status).toBe(2);
  });
});
