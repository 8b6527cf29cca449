import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { overloaded } from '../../../../platform/kernel/errors/domain-error';
import { KernelClient } from './kernel-client';
import type { KernelMessages } from './kernel-feed';

class FakeSocket extends EventEmitter {
  readonly sent: string[] = [];
  readonly closed: number[] = [];

  send(text: string | Buffer, _options: object, sent: () => void): void {
    this.sent.push(text.toString());
    sent();
  }

  close(code: number): void {
    this.closed.push(code);
  }
}

describe('a socket to a kernel', () => {
  let socket: FakeSocket;
  let failures: unknown[];
  let asked: number;

  beforeEach(() => {
    jest.useFakeTimers();
    [socket, failures, asked] = [new FakeSocket(), [], 0];
  });
  afterEach(() => jest.useRealTimers());

  /** A client whose process is too busy for its first reads. */
  function clientOf(busyReads: number): KernelClient {
    const behind = (after: number): Promise<KernelMessages> => {
      asked += 1;
      if (asked <= busyReads) return Promise.reject(overloaded('JSON.BUSY', 'The server is overloaded at the moment.'));
      const messages = after === 0 ? [{ number: 1, text: Buffer.from('said') }] : [];
      return Promise.resolve({ messages, lost: false });
    };
    const work = { behind, ask: () => Promise.resolve([]), failed: (error: unknown) => failures.push(error) };
    return new KernelClient(socket as unknown as WebSocket, work, 0);
  }

  it('goes on when its process was too busy to read what the kernel says', async () => {
    clientOf(3).wake();
    await jest.advanceTimersByTimeAsync(10_000);
    expect([socket.sent, socket.closed, failures]).toEqual([['said'], [], []]);
  });

  it('ends when its process stays too busy', async () => {
    clientOf(Infinity).wake();
    await jest.advanceTimersByTimeAsync(600_000);
    expect([socket.closed, failures]).toEqual([[1011], [expect.objectContaining({ code: 'JSON.BUSY' })]]);
  });

  it('waits no longer once it is closed', async () => {
    clientOf(Infinity).wake();
    await jest.advanceTimersByTimeAsync(2_500);
    socket.emit('close');
    await jest.advanceTimersByTimeAsync(10_000);
    expect([asked, jest.getTimerCount(), failures]).toEqual([3, 0, []]);
  });
});
