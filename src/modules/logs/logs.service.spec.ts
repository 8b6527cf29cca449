import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { LogName, LogStore } from '../../../libs/object-storage/log-store';
import { ObjectStoreError } from '../../../libs/object-storage/object-store';
import type { Config } from '../../config/config';
import { LogsService } from './logs.service';

describe('LogsService', () => {
  const log: LogName = { kind: 'run', id: 7, stream: 'stdout' };
  const config = { storage: { logMaxBytes: 1000 } } as Config;
  const over = (store: Partial<LogStore>) => new LogsService(config, store as LogStore);
  const holding = (content: string) =>
    over({
      open: async () => ({
        size: content.length,
        offsetOfLastLines: async () => content.length - 3,
        read: (offset, length) => Readable.from([Buffer.from(content.slice(offset, offset + length))]),
      }),
    });

  it.each([
    [{}, 'one\ntwo\n', 8],
    [{ offset: 4 }, 'two\n', 8],
    [{ offset: 400 }, '', 8],
    [{ firstBytes: 3 }, 'one', 3],
    [{ offset: 4, firstBytes: 2 }, 'tw', 6],
    [{ lastLines: 1 }, 'wo\n', 8],
  ])('opens the part %j of a log', async (part, content, nextOffset) => {
    const slice = await holding('one\ntwo\n').open(log, part);
    expect(slice).toMatchObject({ name: 'run-7.stdout.log', sizeBytes: content.length, nextOffset });
    expect(await text(slice.stream)).toBe(content);
  });

  it('refuses what goes beyond the limit', async () => {
    const written = over({}).write(log, 1000 + 128 * 1024, Buffer.alloc(1));
    await expect(written).rejects.toMatchObject({ kind: 'too-large', code: 'LOG.TOO_LARGE' });
  });

  it('answers a store that is away with a 503 that says when to come again, and lets nodes be', async () => {
    const away = () => Promise.reject(new ObjectStoreError('TIMEOUT', 'The store did not answer.'));
    const service = over({ write: away, open: away, resumeAt: away });
    const unavailable = {
      kind: 'unavailable',
      code: 'LOG.STORE_UNAVAILABLE',
      details: { retry_after_seconds: expect.any(Number) },
    };
    await expect(service.write(log, 0, Buffer.from('x'))).rejects.toMatchObject(unavailable);
    await expect(service.open(log, {})).rejects.toMatchObject(unavailable);
    expect(await service.resumeAt(log)).toBe(0);
    const slice = await holding('x').open(log, {});
    expect(slice.asError(new ObjectStoreError('UNAVAILABLE', 'It broke off.'))).toMatchObject(unavailable);
  });
});
