import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { LogName, LogStore } from '../../../../../libs/object-storage/log-store';
import { ObjectStoreError } from '../../../../../libs/object-storage/object-store';
import type { Config } from '../../../../config/config';
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

  it('follows a log from its last lines on until the end, with what came right before that', async () => {
    let content = 'one\ntwo\n';
    let looks = 0;
    const growing = over({
      open: async () => ({
        size: content.length,
        offsetOfLastLines: async () => 4,
        read: (offset, length) => Readable.from([Buffer.from(content.slice(offset, offset + length))]),
      }),
    });
    const hasEnded = async (): Promise<boolean> => {
      looks += 1;
      content += `${looks}\n`;
      return looks === 3;
    };
    const slice = await growing.follow(log, { lastLines: 1 }, hasEnded);
    expect(slice).toMatchObject({ name: 'run-7.stdout.log', sizeBytes: null, nextOffset: 4 });
    expect(await text(slice.stream)).toBe('two\n1\n2\n3\n');
  });

  it('ceases to look at a log when nobody follows it any longer', async () => {
    let looks = 0;
    const hasEnded = async (): Promise<boolean> => {
      looks += 1;
      return false;
    };
    const { stream } = await holding('x').follow(log, {}, hasEnded);
    stream.resume();
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(looks).toBeLessThanOrEqual(before + 1);
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
