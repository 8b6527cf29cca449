import { isIP, type Socket, connect } from 'node:net';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { MetastoreError } from '../metastore-client';
import { connectionFault } from '../metastore-fault';
import { AnswerScan } from './answer-scan';
import type { HiveAuthentication } from './hive-authentication';
import { answeredFault } from './hive-fault';
import { HIVE } from './hive-thrift';
import type { SaslMechanism } from './sasl-mechanism';
import { SaslStream } from './sasl-stream';
import { ThriftException, type ThriftMethod } from './thrift-structs';

/** Where a metastore listens. */
export interface HiveUri {
  host: string;
  port: number;
}

/** An idle connection is closed after this time, milliseconds. */
const IDLE_MS = 60_000;

/** The call under way. */
interface Pending {
  scan: AnswerScan;
  resolve: (answer: Buffer) => void;
  reject: (error: MetastoreError) => void;
}

/**
 * One connection to a metastore, for one call after the other. thrift's own connection would never settle a call whose
 * server has gone, and reads whatever size the server says; so it only writes and reads whole messages here. After any
 * failure but an exception of the metastore the connection is closed.
 */
export class HiveConnection {
  /** Number of the call sent last. */
  private sequence = 0;
  private pending: Pending | null = null;
  /** Of a connection that was logged in, or is about to be. */
  private sasl: SaslStream | null = null;
  private mechanism: SaslMechanism | null = null;

  private constructor(
    private readonly server: string,
    private readonly socket: Socket,
  ) {
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('timeout', () => this.close(new MetastoreError('unreachable', `${server} was not needed any longer.`)));
    socket.on('error', (error) => this.close(connectionFault(server, error)));
    socket.on('close', () => this.close(this.gone()));
  }

  /**
   * Connects to an address that the policy allows, and logs in; metastores speak without TLS, so the policy's schemes do not
   * matter. Throws {@link MetastoreError}.
   */
  static async open(
    uri: HiveUri,
    outbound: OutboundPolicy,
    authentication: HiveAuthentication,
    signal: AbortSignal,
  ): Promise<HiveConnection> {
    const connection = new HiveConnection(serverOf(uri), await connected(uri, outbound, signal));
    try {
      await connection.begin(authentication, uri.host, signal);
      return connection;
    } catch (error) {
      const fault = connectionFault(connection.server, error);
      connection.close(fault);
      throw fault;
    }
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** One call. Rejects with {@link MetastoreError}, or with the exception that the metastore answered. */
  async call<A, R>(method: ThriftMethod<A, R>, values: A, signal: AbortSignal): Promise<R> {
    signal.throwIfAborted();
    if (!this.isOpen) throw this.gone();
    const onAbort = () => this.close(connectionFault(this.server, signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    this.socket.setTimeout(0);
    try {
      this.sequence += 1;
      this.write(method.call(this.sequence, values));
      const scan = new AnswerScan(this.server, method.name, this.sequence);
      const arrived = new Promise<Buffer>((resolve, reject) => (this.pending = { scan, resolve, reject }));
      return this.read(method, await arrived);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.socket.setTimeout(IDLE_MS);
    }
  }

  /** Ends the connection, and the login or call under way with this error. */
  close(error: MetastoreError): void {
    this.socket.destroy();
    this.sasl?.end(error);
    this.mechanism?.end();
    this.mechanism = null;
    const pending = this.pending;
    this.pending = null;
    pending?.reject(error);
  }

  /** What comes before the calls: a login, or the name of who calls. */
  private async begin(authentication: HiveAuthentication, host: string, signal: AbortSignal): Promise<void> {
    const mechanism = authentication.mechanismFor(host);
    if (mechanism) await this.logIn(mechanism, signal);
    const { user } = authentication;
    if (user === null) return;
    try {
      await this.call(HIVE.set_ugi, { user_name: user, group_names: [user] }, signal);
    } catch (error) {
      // Metastores that know no such call go on without it, as Hive's own clients do.
      if (!this.isOpen || answeredFault(error).fault !== 'unsupported') throw answeredFault(error);
    }
  }

  private async logIn(mechanism: SaslMechanism, signal: AbortSignal): Promise<void> {
    const { server, socket } = this;
    const onAbort = () => this.close(connectionFault(server, signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    this.mechanism = mechanism;
    this.sasl = new SaslStream(
      server,
      socket,
      (chunk) => this.receive(chunk),
      (error) => this.close(error),
    );
    try {
      signal.throwIfAborted();
      await this.sasl.login(mechanism, signal);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  private write(message: Buffer): void {
    if (this.sasl) this.sasl.write(message);
    else this.socket.write(message);
  }

  private take(chunk: Buffer): void {
    try {
      if (this.sasl) this.sasl.push(chunk);
      else this.receive(chunk);
    } catch (error) {
      this.close(connectionFault(this.server, error));
    }
  }

  private receive(chunk: Buffer): void {
    const { pending } = this;
    if (!pending) throw new MetastoreError('failed', `${this.server} says something that nobody asked for.`);
    if (!pending.scan.push(chunk)) return;
    this.pending = null;
    pending.resolve(pending.scan.answer);
  }

  private gone(): MetastoreError {
    return new MetastoreError('unreachable', `${this.server} closed the connection.`);
  }

  /** What cannot be read is no answer to the call. */
  private read<R>(method: ThriftMethod<never, R>, answer: Buffer): R {
    try {
      return method.read(answer);
    } catch (error) {
      if (error instanceof ThriftException) throw error;
      const fault = new MetastoreError('failed', `${this.server} answers ${method.name} with something else.`, {
        cause: error,
      });
      this.close(fault);
      throw fault;
    }
  }
}

async function connected(uri: HiveUri, outbound: OutboundPolicy, signal: AbortSignal): Promise<Socket> {
  let socket: Socket | undefined;
  let onAbort: (() => void) | undefined;
  try {
    signal.throwIfAborted();
    // Node does not look up an address.
    if (isIP(uri.host) !== 0) outbound.assertAddress(uri.host);
    const opened = connect({ host: uri.host, port: uri.port, lookup: outbound.lookup, noDelay: true });
    socket = opened;
    await new Promise<void>((resolve, reject) => {
      onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      opened.once('connect', resolve).once('error', reject);
    });
    return opened;
  } catch (error) {
    socket?.on('error', () => undefined).destroy();
    throw connectionFault(serverOf(uri), error);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

/** A metastore's address, for messages. */
export function serverOf({ host, port }: HiveUri): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
