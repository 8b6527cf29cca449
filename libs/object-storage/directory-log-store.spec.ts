import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryLogStore } from './directory-log-store';
import { describeLogStoreContract } from './log-store.contract';

describeLogStoreContract(
  'A directory',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'logs-'));
    return {
      open: () => new DirectoryLogStore(root),
      pieces: async () =>
        (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length,
      requests: null,
      close: () => rm(root, { recursive: true }),
    };
  },
  { appends: 10_000 },
);
