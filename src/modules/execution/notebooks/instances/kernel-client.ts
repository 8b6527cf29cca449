import type { WebSocket } from 'ws';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { pause } from '../../../../platform/kernel/process/pause';
import { Pump } from '../../../../platform/kernel/process/pump';
import type { KernelMessages } from './kernel-feed';
import { answerTo, type ClientRequest, readClientMessage, repliesTo } from './kernel-messages';

/** Messages, and their bytes, that a client may have sent without their having been taken. */
const MAX_UNSENT = 64;
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
/** How long a client may take to read what it was sent. */
const SLOW_MS = 30_000;
/** The pause before a client is served again that was not served because the process was busy, milliseconds, and the most retries. */
const BUSY_MS = 1_000;
const MAX_BUSY = 60;
/** Of RFC 6455. */
const CLOSE = { normal: 1000, unsupported: 1003, policy: 1008, failed: 1011 } as const;

/** What a client needs of the rest. */
export interface ClientWork {
  /** Some of what the kernel has said behind a number. */
  behind: (after: number) => Promise<KernelMessages>;
  /** Sends a message to the kernel; texts of messages that answer it at once. */
  ask: (request: ClientRequest) => Promise<string[]>;
  /** Told of an error that is not the client's fault. */
  failed: (error: unknown) => void;
}

/**
 * One socket to a kernel. It is sent what the kernel says from a position on, in order, and no more than it reads; what it
 * sends is taken one by one, and it is not read while too much waits.
 */
export class KernelClient {
  private readonly delivery = new Pump((signal) => this.deliver(signal), { failed: (error) => this.fail(error) });
  private closed = false;
  private busy = 0;
  private readonly untaken: { text: string; bytes: number }[] = [];
  private untakenBytes = 0;
  private taking = false;

  /** @param delivered number of the last frame that its session has */
  constructor(
    private readonly socket: WebSocket,
    private readonly work: ClientWork,
    public delivered: number,
  ) {
    socket.on('message', (data: Buffer, isBinary) => this.onMessage(data, isBinary));
    socket.on('close', () => this.stop());
  }

  /** Delivers what there is, once more if that is under way. */
  wake(): void {
    this.delivery.wake();
  }

  /** Delivers all that is left, answers the requests that nobody else will, and closes the socket. */
  async end(unanswered: readonly string[], why: string): Promise<void> {
    await this.delivery.run();
    const reply = { status: 'aborted', execution_count: 0, ename: 'NotebookEnded', evalue: why, traceback: [] };
    for (const msgId of unanswered) for (const text of repliesTo(msgId, reply)) await this.send(text);
    this.close(CLOSE.normal, 'The notebook has ended');
  }

  close(code: number, reason: string): void {
    this.stop();
    this.socket.close(code, reason);
  }

  /** Whether there may be more. */
  private async deliver(signal: AbortSignal): Promise<boolean> {
    try {
      const hasMore = await this.deliverSome();
      this.busy = 0;
      return hasMore;
    } catch (error) {
      const isBusy = error instanceof DomainError && error.kind === 'overloaded';
      if (!isBusy || this.busy >= MAX_BUSY) throw error;
      this.busy += 1;
      return pause(BUSY_MS, signal);
    }
  }

  /** Whether there may be more. */
  private async deliverSome(): Promise<boolean> {
    const { messages, lost } = await this.work.behind(this.delivered);
    if (lost) {
      // It read too late. What was said is in the cells; with its next socket it goes on with what is kept.
      this.delivered = (messages[0]?.number ?? this.delivered + 1) - 1;
      this.close(CLOSE.policy, 'KERNEL.READ_TOO_LATE');
      return false;
    }
    for (const { number, text } of messages) {
      if (this.closed) return false;
      if (text !== null && !(await this.send(text))) return false;
      this.delivered = number;
    }
    return messages.length > 0;
  }

  /** Resolves once the text was handed to the connection; false when it was not. */
  private async send(text: string | Buffer): Promise<boolean> {
    if (this.closed) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), SLOW_MS).unref()));
    const sent = new Promise<boolean>((resolve) =>
      this.socket.send(text, { binary: false }, (error) => resolve(!error)),
    );
    const outcome = await Promise.race([sent, late]);
    clearTimeout(timer);
    if (outcome !== 'late') return outcome;
    this.stop();
    this.socket.terminate();
    return false;
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    if (this.closed) return;
    if (isBinary) return this.close(CLOSE.unsupported, 'Only text is understood');
    this.untaken.push({ text: data.toString('utf8'), bytes: data.length });
    this.untakenBytes += data.length;
    if (this.untaken.length >= MAX_UNSENT || this.untakenBytes >= MAX_UNSENT_BYTES) this.socket.pause();
    if (!this.taking) void this.takeAll();
  }

  private async takeAll(): Promise<void> {
    this.taking = true;
    try {
      for (let next = this.untaken.shift(); next && !this.closed; next = this.untaken.shift()) {
        this.untakenBytes -= next.bytes;
        await this.take(next.text);
        if (this.untaken.length === 0 && this.socket.isPaused) this.socket.resume();
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.taking = false;
    }
  }

  private async take(text: string): Promise<void> {
    let request: ClientRequest | null = null;
    try {
      request = readClientMessage(text);
      if (!request) return;
      for (const answer of await this.work.ask(request)) await this.send(answer);
      if (request.type === 'interrupt_request') {
        await this.send(answerTo(request, 'interrupt_reply', { status: 'ok' }, 'control'));
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (!request) return this.close(CLOSE.policy, error.code);
      await this.refuse(request, error);
    }
  }

  /** A refused request is answered as the kernel answers one that fails. */
  private async refuse(request: ClientRequest, { code, message }: DomainError): Promise<void> {
    const reply = { status: 'error', execution_count: 0, ename: code, evalue: message, traceback: [] };
    const replies =
      request.type === 'execute_request'
        ? repliesTo(request.msgId, reply)
        : [answerTo(request, request.type.replace('_request', '_reply'), reply, 'shell')];
    for (const text of replies) await this.send(text);
  }

  private stop(): void {
    this.closed = true;
    void this.delivery.stop();
  }

  private fail(error: unknown): void {
    this.work.failed(error);
    this.close(CLOSE.failed, 'INTERNAL');
  }
}
