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
  let haveReported: boolean;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'local-folder-'));
    dir = join(root, 'nodes');
    [lines, started, haveReported] = [[], [], false];
  });

  afterEach(async () => {
    for (const one of started) await one.stop();
    rmSync(root, { recursive: true });
  });

  async function start(local: { dir: string } | null): Promise<LocalFolderService> {
    const say = (_facts: object, line: string) => void lines.push(line);
    const service = new LocalFolderService(
      { compute: { local } } as Config,
      {} as DataSource,
      { haveReported: () => Promise.resolve(haveReported) } as unknown as LocalHostsRepository,
      { info: say, warn: say } as unknown as Logger,
    );
    started.push(service);
    await service.start();
    return service;
  }

  const until = async (holds: () => boolean): Promise<void> => {
    const deadline = performance.now() + 50_000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`never came true: ${holds.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const WITHOUT = 'This worker has no local nodes: it cannot take its folder, and keeps trying';
  const WITH = 'This worker holds its folder of local nodes';

  it('gives the folder to one worker at a time, and to the next when the first ends', async () => {
    const first = await start({ dir });
    const second = await start({ dir });
    expect([first.problem, await first.isElsewhere()]).toEqual([null, false]);
    expect([second.lack, await second.isElsewhere()]).toEqual([expect.stringContaining(dir), true]);
    await first.stop();
    await until(() => second.problem === null);
    expect(await second.isElsewhere()).toBe(false);
    expect(lines).toEqual([WITH, WITHOUT, WITH]);
  });

  it('works without a folder that cannot be used, until it can be', async () => {
    writeFileSync(dir, '');
    const service = await start({ dir });
    expect([service.lack, await service.isElsewhere()]).toEqual([expect.stringContaining(dir), false]);
    rmSync(dir);
    await until(() => service.problem === null);
    expect(lines).toEqual([WITHOUT, WITH]);
  });

  it('reports no problem of a worker that is configured without local nodes', async () => {
    const service = await start(null);
    expect([service.lack, lines, await service.isElsewhere()]).toEqual([null, [], false]);
    expect(service.problem).toContain('COMPUTE_LOCAL_ENABLED');
    haveReported = true;
    expect(await service.isElsewhere()).toBe(true);
  });
});
