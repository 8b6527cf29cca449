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

describe('KernelClient', () => {
  let socket: FakeSocket;
  let failures: unknown[];
  let reads: number;

  beforeEach(() => {
    jest.useFakeTimers();
    [socket, failures, reads] = [new FakeSocket(), [], 0];
  });
  afterEach(() => jest.useRealTimers());

  /** Creates a client whose first reads fail because the process is overloaded. */
  function clientOf(busyReads: number): KernelClient {
    const messagesAfter = (after: number): Promise<KernelMessages> => {
      reads += 1;
      if (reads <= busyReads) return Promise.reject(overloaded('JSON.BUSY', 'The server is overloaded at the moment.'));
      const messages = after === 0 ? [{ number: 1, text: Buffer.from('output') }] : [];
      return Promise.resolve({ messages, lost: false });
    };
    const handlers = {
      messagesAfter,
      submit: () => Promise.resolve([]),
      failed: (error: unknown) => failures.push(error),
    };
    return new KernelClient(socket as unknown as WebSocket, handlers, 0);
  }

  it('retries when the process is too busy to read frames', async () => {
    clientOf(3).wake();
    await jest.advanceTimersByTimeAsync(10_000);
    expect([socket.sent, socket.closed, failures]).toEqual([['output'], [], []]);
  });

  it('closes when the process stays too busy', async () => {
    clientOf(Infinity).wake();
    await jest.advanceTimersByTimeAsync(600_000);
    expect([socket.closed, failures]).toEqual([[1011], [expect.objectContaining({ code: 'JSON.BUSY' })]]);
  });

  it('stops retrying after it is closed', async () => {
    clientOf(Infinity).wake();
    await jest.advanceTimersByTimeAsync(2_500);
    socket.emit('close');
    await jest.advanceTimersByTimeAsync(10_000);
    expect([reads, jest.getTimerCount(), failures]).toEqual([3, 0, []]);
  });
});
