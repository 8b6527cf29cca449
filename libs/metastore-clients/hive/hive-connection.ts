import { isIP, type Socket, connect } from 'node:net';
import type { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { MetastoreError } from '../metastore-client';
import { connectionFault } from '../metastore-fault';
import { ResponseScan } from './response-scan';
import type { HiveAuthentication } from './hive-authentication';
import { exceptionFault } from './hive-fault';
import { HIVE } from './hive-thrift';
import type { SaslMechanism } from './sasl-mechanism';
import { SaslStream } from './sasl-stream';
import { ThriftException, type ThriftMethod } from './thrift-structs';

export interface HiveUri {
  host: string;
  port: number;
}

/** An idle connection is closed after this time. */
const IDLE_TIMEOUT_MS = 60_000;

/** The running call. */
interface PendingCall {
  scan: ResponseScan;
  resolve: (answer: Buffer) => void;
  reject: (error: MetastoreError) => void;
}

/**
 * One connection to a metastore, for one call at a time. The connection class of the thrift package never settles a call
 * whose server disappears, and trusts every size, so the package only encodes and decodes whole messages here. Any failure
 * except an exception of the metastore closes the connection.
 */
export class HiveConnection {
  /** Number of the last call. */
  private sequence = 0;
  private pending: PendingCall | null = null;
  /** Set from the beginning of the login. */
  private sasl: SaslStream | null = null;
  private mechanism: SaslMechanism | null = null;

  private constructor(
    private readonly server: string,
    private readonly socket: Socket,
  ) {
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('timeout', () =>
      this.close(new MetastoreError('unreachable', `The idle connection to ${server} was closed.`)),
    );
    socket.on('error', (error) => this.close(connectionFault(server, error)));
    socket.on('close', () => this.close(this.gone()));
  }

  /**
   * Connects to an address that the policy allows, and logs in. The policy's URL schemes do not apply, because metastores
   * have no TLS. Throws {@link MetastoreError}.
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

  /** Makes one call. Rejects with {@link MetastoreError}, or with the exception that the metastore returned. */
  async call<A, R>(method: ThriftMethod<A, R>, values: A, signal: AbortSignal): Promise<R> {
    signal.throwIfAborted();
    if (!this.isOpen) throw this.gone();
    const onAbort = () => this.close(connectionFault(this.server, signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    this.socket.setTimeout(0);
    try {
      this.sequence += 1;
      this.write(method.call(this.sequence, values));
      const scan = new ResponseScan(this.server, method.name, this.sequence);
      const arrived = new Promise<Buffer>((resolve, reject) => (this.pending = { scan, resolve, reject }));
      return this.read(method, await arrived);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.socket.setTimeout(IDLE_TIMEOUT_MS);
    }
  }

  /** Closes the connection and rejects the running login or call with this error. */
  close(error: MetastoreError): void {
    this.socket.destroy();
    this.sasl?.end(error);
    this.mechanism?.end();
    this.mechanism = null;
    const pending = this.pending;
    this.pending = null;
    pending?.reject(error);
  }

  /** Logs in, or sends the user name to a metastore without logins. */
  private async begin(authentication: HiveAuthentication, host: string, signal: AbortSignal): Promise<void> {
    const mechanism = authentication.mechanismFor(host);
    if (mechanism) await this.logIn(mechanism, signal);
    const { user } = authentication;
    if (user === null) return;
    try {
      await this.call(HIVE.set_ugi, { user_name: user, group_names: [user] }, signal);
    } catch (error) {
      // Like Hive's own clients, continue if the metastore does not know the call.
      if (!this.isOpen || exceptionFault(error).fault !== 'unsupported') throw exceptionFault(error);
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
    if (!pending)
      throw new MetastoreError('failed', `${this.server} is not a Hive metastore: it sends data without a request.`);
    if (!pending.scan.push(chunk)) return;
    this.pending = null;
    pending.resolve(pending.scan.response);
  }

  private gone(): MetastoreError {
    return new MetastoreError('unreachable', `${this.server} closed the connection.`);
  }

  /** Closes the connection if the response cannot be decoded. */
  private read<R>(method: ThriftMethod<never, R>, answer: Buffer): R {
    try {
      return method.read(answer);
    } catch (error) {
      if (error instanceof ThriftException) throw error;
      const fault = new MetastoreError('failed', `${this.server} returned an invalid response to ${method.name}.`, {
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
    // Node does not look up an IP address, so the policy must check it here.
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

/** Returns a metastore's address, for messages. */
export function serverOf({ host, port }: HiveUri): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
