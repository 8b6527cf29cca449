import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Config } from '../../../../config/config';
import type { Logger } from '../../../../platform/kernel/logging/logger';
import { LocalFolderService } from './local-folder.service';
import type { LocalHostsRepository } from './local-hosts.repository';

describe('LocalFolderService', () => {
  let root: string;
  let dir: string;
  let lines: string[];
  let started: LocalFolderService[];
  let hasRecentReport: boolean;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'local-folder-'));
    dir = join(root, 'nodes');
    [lines, started, hasRecentReport] = [[], [], false];
  });

  afterEach(async () => {
    for (const service of started) await service.stop();
    rmSync(root, { recursive: true });
  });

  async function start(local: { dir: string } | null): Promise<LocalFolderService> {
    const log = (_facts: object, line: string) => void lines.push(line);
    const service = new LocalFolderService(
      { compute: { local } } as Config,
      {} as DataSource,
      { hasRecentReport: () => Promise.resolve(hasRecentReport) } as unknown as LocalHostsRepository,
      { info: log, warn: log } as unknown as Logger,
    );
    started.push(service);
    await service.start();
    return service;
  }

  const until = async (condition: () => boolean): Promise<void> => {
    const deadline = performance.now() + 50_000;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`timed out waiting for: ${condition.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const WITHOUT = 'This worker has no local nodes: it cannot lock their folder and keeps trying';
  const WITH = 'This worker has locked its folder of local nodes';

  it('lets one worker at a time lock the folder, and the next when the first stops', async () => {
    const first = await start({ dir });
    const second = await start({ dir });
    expect([first.problem, await first.isHeldElsewhere()]).toEqual([null, false]);
    expect([second.failure, await second.isHeldElsewhere()]).toEqual([expect.stringContaining(dir), true]);
    await first.stop();
    await until(() => second.problem === null);
    expect(await second.isHeldElsewhere()).toBe(false);
    expect(lines).toEqual([WITH, WITHOUT, WITH]);
  });

  it('retries while the folder cannot be used', async () => {
    writeFileSync(dir, '');
    const service = await start({ dir });
    expect([service.failure, await service.isHeldElsewhere()]).toEqual([expect.stringContaining(dir), false]);
    rmSync(dir);
    await until(() => service.problem === null);
    expect(lines).toEqual([WITHOUT, WITH]);
  });

  it('reports no failure if local nodes are not enabled', async () => {
    const service = await start(null);
    expect([service.failure, lines, await service.isHeldElsewhere()]).toEqual([null, [], false]);
    expect(service.problem).toContain('COMPUTE_LOCAL_ENABLED');
    hasRecentReport = true;
    expect(await service.isHeldElsewhere()).toBe(true);
  });
});
