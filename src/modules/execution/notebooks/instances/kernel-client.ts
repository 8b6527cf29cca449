import type { WebSocket } from 'ws';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { pause } from '../../../../platform/kernel/process/pause';
import { Pump } from '../../../../platform/kernel/process/pump';
import type { KernelMessages } from './kernel-feed';
import { type ClientRequest, readClientMessage, repliesTo, replyText } from './kernel-messages';

/** The socket is paused when a client has sent this much that is not handled yet. */
const MAX_QUEUED_MESSAGES = 64;
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
/** The connection is closed if a client takes longer to read a message. */
const SEND_TIMEOUT_MS = 30_000;
/** Delivery is retried when the process is overloaded. */
const RETRY_DELAY_MS = 1_000;
const MAX_RETRIES = 60;
/** Close codes of RFC 6455. */
const CLOSE = { normal: 1000, unsupported: 1003, policy: 1008, failed: 1011 } as const;

/** The operations that a client calls. */
export interface ClientHandlers {
  /** Returns some of the kernel's messages after a number. */
  messagesAfter: (after: number) => Promise<KernelMessages>;
  /** Sends a message to the kernel; returns the texts of immediate replies. */
  submit: (request: ClientRequest) => Promise<string[]>;
  /** Called for an error that the client did not cause. */
  failed: (error: unknown) => void;
}

/**
 * One socket to a kernel. Delivers the kernel's messages from a position on, in order and not faster than the client reads. Handles
 * the client's messages one by one, and pauses the socket while too many are queued.
 */
export class KernelClient {
  private readonly delivery = new Pump((signal) => this.deliver(signal), { failed: (error) => this.fail(error) });
  private closed = false;
  private retries = 0;
  private readonly queued: { text: string; bytes: number }[] = [];
  private queuedBytes = 0;
  private isHandling = false;

  /** @param delivered number of the last frame that the session has received */
  constructor(
    private readonly socket: WebSocket,
    private readonly handlers: ClientHandlers,
    public delivered: number,
  ) {
    socket.on('message', (data: Buffer, isBinary) => this.onMessage(data, isBinary));
    socket.on('close', () => this.stop());
  }

  /** Delivers new messages; runs once more if a delivery is in progress. */
  wake(): void {
    this.delivery.wake();
  }

  /** Delivers the remaining messages, replies to the requests that the kernel will not answer, and closes the socket. */
  async end(unanswered: readonly string[], reason: string): Promise<void> {
    await this.delivery.run();
    const reply = { status: 'aborted', execution_count: 0, ename: 'NotebookEnded', evalue: reason, traceback: [] };
    for (const msgId of unanswered) for (const text of repliesTo(msgId, reply)) await this.send(text);
    this.close(CLOSE.normal, 'The notebook has ended');
  }

  close(code: number, reason: string): void {
    this.stop();
    this.socket.close(code, reason);
  }

  private async deliver(signal: AbortSignal): Promise<boolean> {
    try {
      const hasMore = await this.deliverBatch();
      this.retries = 0;
      return hasMore;
    } catch (error) {
      const isBusy = error instanceof DomainError && error.kind === 'overloaded';
      if (!isBusy || this.retries >= MAX_RETRIES) throw error;
      this.retries += 1;
      return pause(RETRY_DELAY_MS, signal);
    }
  }

  private async deliverBatch(): Promise<boolean> {
    const { messages, lost } = await this.handlers.messagesAfter(this.delivered);
    if (lost) {
      // The client read too late. The cells have the outputs, and its next socket resumes with the kept frames.
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

  /** Resolves to true after the text was handed to the connection, and to false if that failed. */
  private async send(text: string | Buffer): Promise<boolean> {
    if (this.closed) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), SEND_TIMEOUT_MS).unref()));
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
    if (isBinary) return this.close(CLOSE.unsupported, 'Only text frames are supported');
    this.queued.push({ text: data.toString('utf8'), bytes: data.length });
    this.queuedBytes += data.length;
    if (this.queued.length >= MAX_QUEUED_MESSAGES || this.queuedBytes >= MAX_QUEUED_BYTES) this.socket.pause();
    if (!this.isHandling) void this.handleQueued();
  }

  private async handleQueued(): Promise<void> {
    this.isHandling = true;
    try {
      for (let next = this.queued.shift(); next && !this.closed; next = this.queued.shift()) {
        this.queuedBytes -= next.bytes;
        await this.handle(next.text);
        if (this.queued.length === 0 && this.socket.isPaused) this.socket.resume();
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.isHandling = false;
    }
  }

  private async handle(text: string): Promise<void> {
    let request: ClientRequest | null = null;
    try {
      request = readClientMessage(text);
      if (!request) return;
      for (const answer of await this.handlers.submit(request)) await this.send(answer);
      if (request.type === 'interrupt_request') {
        await this.send(replyText(request, 'interrupt_reply', { status: 'ok' }, 'control'));
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (!request) return this.close(CLOSE.policy, error.code);
      await this.refuse(request, error);
    }
  }

  /** Replies to a refused request in the way the kernel replies to one that fails. */
  private async refuse(request: ClientRequest, { code, message }: DomainError): Promise<void> {
    const reply = { status: 'error', execution_count: 0, ename: code, evalue: message, traceback: [] };
    const replies =
      request.type === 'execute_request'
        ? repliesTo(request.msgId, reply)
        : [replyText(request, request.type.replace('_request', '_reply'), reply, 'shell')];
    for (const text of replies) await this.send(text);
  }

  private stop(): void {
    this.closed = true;
    void this.delivery.stop();
  }

  private fail(error: unknown): void {
    this.handlers.failed(error);
    this.close(CLOSE.failed, 'INTERNAL');
  }
}
