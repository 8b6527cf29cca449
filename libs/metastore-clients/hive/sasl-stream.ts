import type { Socket } from 'node:net';
import { MetastoreError } from '../metastore-client';
import { connectionFault, refusal } from '../metastore-fault';
import type { SaslLayer, SaslMechanism } from './sasl-mechanism';

/** Status of a login message: the first one begins the login, others continue it, refuse it with a reason, or end it. */
const [START, OK, BAD, ERROR, COMPLETE] = [1, 2, 3, 4, 5];
/** Limit of one login message; a ticket with many groups has tens of thousands of bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024;
/** Limit of a server's messages in one login; GSSAPI has three. */
const MAX_MESSAGES = 10;
/** Limit of one frame: a response and the overhead of its layer. */
const MAX_FRAME_BYTES = 65 * 1024 * 1024;

interface Message {
  status: number;
  payload: Buffer;
}

/**
 * Thrift's SASL transport over one connection: first login messages, each with a status and a length, then frames with a
 * length, whose content a layer may protect.
 */
export class SaslStream {
  private buffered: Buffer[] = [];
  private length = 0;
  private isLoggedIn = false;
  private layer: SaslLayer | null = null;
  /** Bytes left of the current frame, in a stream without a layer. */
  private left = 0;
  private arrived: { resolve: () => void; reject: (error: Error) => void } | null = null;
  private fault: Error | null = null;
  private isUnpacking = false;
  private sending: Promise<void> = Promise.resolve();

  /** @param receive called with the received bytes, without frames */
  constructor(
    private readonly server: string,
    private readonly socket: Socket,
    private readonly receive: (chunk: Buffer) => void,
    private readonly failed: (error: MetastoreError) => void,
  ) {}

  /** Rejects with {@link MetastoreError}, `denied` with the server's reason if it refuses the login. */
  async login(mechanism: SaslMechanism, signal: AbortSignal): Promise<void> {
    this.send(START, Buffer.from(mechanism.name));
    const first = await mechanism.start(signal);
    this.send(mechanism.complete ? COMPLETE : OK, first);
    for (let count = 0; count < MAX_MESSAGES; count += 1) {
      const { status, payload } = await this.message();
      if (status === BAD || status === ERROR)
        throw refusal('denied', this.server, payload.toString('utf8'), mechanism.secrets);
      if (status === COMPLETE && mechanism.complete) return this.begin(mechanism.layer);
      if (status !== OK)
        throw new MetastoreError('failed', `${this.server} does not follow the SASL protocol during the login.`);
      const answer = await mechanism.respond(payload, signal);
      this.send(mechanism.complete ? COMPLETE : OK, answer);
    }
    throw new MetastoreError('failed', `${this.server} does not finish the login after ${MAX_MESSAGES} messages.`);
  }

  /** Sends a message in a frame. */
  write(message: Buffer): void {
    const { layer } = this;
    if (!layer) {
      this.socket.write(framed(message));
      return;
    }
    this.sending = this.sending.then(async () => {
      this.socket.write(framed(await layer.wrap(message)));
    });
    this.sending.catch((error: unknown) => this.failed(connectionFault(this.server, error)));
  }

  /** Processes received bytes. */
  push(chunk: Buffer): void {
    if (this.isLoggedIn && !this.layer) return this.pass(chunk);
    this.buffered.push(chunk);
    this.length += chunk.length;
    const max = this.isLoggedIn ? MAX_FRAME_BYTES : MAX_MESSAGE_BYTES + 5;
    if (this.length > max) throw this.tooLong();
    if (!this.layer) this.arrived?.resolve();
    else this.unpack(this.layer).catch((error: unknown) => this.failed(connectionFault(this.server, error)));
  }

  /** Called when the connection has ended. */
  end(error: Error): void {
    this.fault ??= error;
    this.arrived?.reject(error);
  }

  private begin(layer: SaslLayer | null): void {
    if (this.length > 0)
      throw new MetastoreError('failed', `${this.server} is not a Hive metastore: it sends data without a request.`);
    this.layer = layer;
    this.isLoggedIn = true;
  }

  private send(status: number, payload: Buffer): void {
    const header = Buffer.alloc(5);
    header.writeUInt8(status, 0);
    header.writeUInt32BE(payload.length, 1);
    this.socket.write(Buffer.concat([header, payload]));
  }

  private async message(): Promise<Message> {
    for (;;) {
      if (this.fault) throw this.fault;
      const header = this.peek(5);
      const length = header?.readUInt32BE(1) ?? 0;
      if (length > MAX_MESSAGE_BYTES) throw this.tooLong();
      if (header && this.length >= 5 + length) {
        const whole = this.take(5 + length);
        return { status: whole.readUInt8(0), payload: whole.subarray(5) };
      }
      await new Promise<void>((resolve, reject) => (this.arrived = { resolve, reject }));
    }
  }

  /** Passes on frames without a layer as they arrive. */
  private pass(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.left === 0) {
        const missing = 4 - this.length;
        this.buffered.push(rest.subarray(0, missing));
        this.length += Math.min(missing, rest.length);
        rest = rest.subarray(missing);
        if (this.length < 4) return;
        this.left = this.take(4).readUInt32BE(0);
        if (this.left > MAX_FRAME_BYTES) throw this.tooLong();
        continue;
      }
      const part = rest.subarray(0, this.left);
      this.left -= part.length;
      rest = rest.subarray(part.length);
      this.receive(part);
    }
  }

  /** Unwraps all complete frames, one at a time. */
  private async unpack(layer: SaslLayer): Promise<void> {
    if (this.isUnpacking) return;
    this.isUnpacking = true;
    try {
      for (let wrapped = this.frame(); wrapped && !this.fault; wrapped = this.frame()) {
        this.receive(await layer.unwrap(wrapped));
      }
    } finally {
      this.isUnpacking = false;
    }
  }

  /** Returns the next complete frame, or null. */
  private frame(): Buffer | null {
    const length = this.peek(4)?.readUInt32BE(0);
    if (length === undefined) return null;
    if (length > MAX_FRAME_BYTES) throw this.tooLong();
    return this.length < 4 + length ? null : this.take(4 + length).subarray(4);
  }

  /** Returns the first `count` bytes; null if fewer have arrived. */
  private peek(count: number): Buffer | null {
    if (this.length < count) return null;
    const [first] = this.buffered;
    if (first && first.length >= count) return first.subarray(0, count);
    return this.whole().subarray(0, count);
  }

  private take(count: number): Buffer {
    const all = this.whole();
    const rest = all.subarray(count);
    this.buffered = rest.length > 0 ? [rest] : [];
    this.length = rest.length;
    return all.subarray(0, count);
  }

  private whole(): Buffer {
    const [first] = this.buffered;
    const all = this.buffered.length === 1 && first ? first : Buffer.concat(this.buffered);
    this.buffered = [all];
    return all;
  }

  private tooLong(): MetastoreError {
    return new MetastoreError('too-large', `${this.server} sends a message that is too long.`);
  }
}

function framed(message: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(message.length);
  return Buffer.concat([header, message]);
}
