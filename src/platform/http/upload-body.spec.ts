import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { UploadBody } from './upload-body';

const STALL_MS = 60_000;

describe('UploadBody', () => {
  const upload = (maxBytes = 1_000) => {
    const request = new PassThrough();
    const body = new UploadBody(request as unknown as IncomingMessage, { maxBytes, stallMs: STALL_MS });
    const failed = new Promise<unknown>((resolve) => body.once('error', resolve));
    return { request, body, failed };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('may take any time as long as bytes arrive', async () => {
    const { request, body } = upload();
    body.resume();
    for (let sent = 0; sent < 10; sent += 1) {
      jest.advanceTimersByTime(STALL_MS - 1);
      request.write('a');
      await turn();
    }
    request.end();
    await turn();
    jest.advanceTimersByTime(STALL_MS * 2);
    expect([body.errored, body.receivedBytes]).toEqual([null, 10]);
  });

  it('fails if no bytes arrive while a reader waits', async () => {
    const { request, body, failed } = upload();
    body.resume();
    request.write('a');
    await turn();
    jest.advanceTimersByTime(STALL_MS);
    expect(await failed).toMatchObject({ kind: 'timeout', code: 'REQUEST.TIMEOUT' });
  });

  it('waits for a slow reader', async () => {
    const { request, body } = upload();
    request.write('a');
    await turn();
    jest.advanceTimersByTime(STALL_MS * 10);
    expect(body.errored).toBeNull();
    expect(body.read()?.toString()).toBe('a');
  });

  it('fails as soon as it exceeds its limit', async () => {
    const { request, body, failed } = upload(5);
    body.resume();
    request.write('123456');
    expect(await failed).toMatchObject({ kind: 'too-large', code: 'FILE.TOO_LARGE' });
  });
});
