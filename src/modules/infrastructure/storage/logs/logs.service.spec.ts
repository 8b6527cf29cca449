import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { LogName, LogStore } from '../../../../../libs/object-storage/log-store';
import { ObjectStoreError } from '../../../../../libs/object-storage/object-store';
import type { Config } from '../../../../config/config';
import { LogsService } from './logs.service';

describe('LogsService', () => {
  const log: LogName = { kind: 'run', id: 7, stream: 'stdout' };
  const config = { storage: { logMaxBytes: 1000 } } as Config;
  const serviceOver = (store: Partial<LogStore>) => new LogsService(config, store as LogStore);
  const serviceWith = (content: string) =>
    serviceOver({
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
    const slice = await serviceWith('one\ntwo\n').open(log, part);
    expect(slice).toMatchObject({ name: 'run-7.stdout.log', sizeBytes: content.length, nextOffset });
    expect(await text(slice.stream)).toBe(content);
  });

  it('follows a log from its last lines to its end, including what is written just before the end', async () => {
    let content = 'one\ntwo\n';
    let polls = 0;
    const growing = serviceOver({
      open: async () => ({
        size: content.length,
        offsetOfLastLines: async () => 4,
        read: (offset, length) => Readable.from([Buffer.from(content.slice(offset, offset + length))]),
      }),
    });
    const hasEnded = async (): Promise<boolean> => {
      polls += 1;
      content += `${polls}\n`;
      return polls === 3;
    };
    const slice = await growing.follow(log, { lastLines: 1 }, hasEnded);
    expect(slice).toMatchObject({ name: 'run-7.stdout.log', sizeBytes: null, nextOffset: 4 });
    expect(await text(slice.stream)).toBe('two\n1\n2\n3\n');
  });

  it('stops polling a log when its reader is gone', async () => {
    let polls = 0;
    const hasEnded = async (): Promise<boolean> => {
      polls += 1;
      return false;
    };
    const { stream } = await serviceWith('x').follow(log, {}, hasEnded);
    stream.resume();
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    const before = polls;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(polls).toBeLessThanOrEqual(before + 1);
  });

  it('refuses a chunk beyond the size limit', async () => {
    const write = serviceOver({}).write(log, 1000 + 128 * 1024, Buffer.alloc(1));
    await expect(write).rejects.toMatchObject({ kind: 'too-large', code: 'LOG.TOO_LARGE' });
  });

  it('maps an unavailable store to 503 with a retry time, and lets nodes resume from the start', async () => {
    const fail = () => Promise.reject(new ObjectStoreError('TIMEOUT', 'The store did not answer.'));
    const service = serviceOver({ write: fail, open: fail, resumeAt: fail });
    const unavailable = {
      kind: 'unavailable',
      code: 'LOG.STORE_UNAVAILABLE',
      details: { retry_after_seconds: expect.any(Number) },
    };
    await expect(service.write(log, 0, Buffer.from('x'))).rejects.toMatchObject(unavailable);
    await expect(service.open(log, {})).rejects.toMatchObject(unavailable);
    expect(await service.resumeAt(log)).toBe(0);
    const slice = await serviceWith('x').open(log, {});
    expect(slice.asError(new ObjectStoreError('UNAVAILABLE', 'It broke off.'))).toMatchObject(unavailable);
  });
});
