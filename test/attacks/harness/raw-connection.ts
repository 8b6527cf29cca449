import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '../../harness/eventually';

/** Default timeout for something that the server does at once; long, because the machine may be busy. */
const RESPONSE_TIMEOUT_MS = 60_000;

/** A connection on which a test sends any bytes, HTTP or not. */
export class RawConnection {
  private received = '';
  private ended = false;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => (this.received += part));
    // A reset, an end and a destroyed socket all mean that the connection is closed.
    socket.on('error', () => undefined);
    socket.on('close', () => (this.ended = true));
  }

  static async open(baseUrl: string, { localAddress }: { localAddress?: string } = {}): Promise<RawConnection> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect({ host: hostname, port: Number(port), localAddress, noDelay: true });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  /** Everything received so far. */
  get answer(): string {
    return this.received;
  }

  get isOpen(): boolean {
    return !this.ended;
  }

  /** Resolves once the bytes are sent; bytes for a closed connection are lost. */
  async write(bytes: string | Buffer): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()));
  }

  /** Status of the first response. */
  async status(timeoutMs = RESPONSE_TIMEOUT_MS): Promise<number> {
    const found = await eventually(() => /^HTTP\/1\.1 (\d{3})/.exec(this.received), { timeoutMs, what: 'an answer' });
    return Number(found[1]);
  }

  async closed(timeoutMs = RESPONSE_TIMEOUT_MS): Promise<void> {
    await eventually(() => this.ended, { timeoutMs, what: 'the end of the connection' });
  }

  /** Reads the first chunk and nothing after it. */
  readOnce(): void {
    this.socket.once('data', () => this.socket.pause());
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Returns the head of a request whose body follows later. */
export function head(path: string, headers: Record<string, string | number>, method = 'POST'): string {
  const lines = Object.entries({ host: 'platform', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
