import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of a store that can stop forwarding the store's bytes. */
export class FaultProxy {
  /** Number of bytes still forwarded from the store; after them the connection hangs or is cut. */
  private left = Infinity;
  private thenCuts = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async before(targetUrl: string): Promise<FaultProxy> {
    const target = new URL(targetUrl);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new FaultProxy(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (client) => proxy.join(client, connect(Number(target.port), target.hostname)));
    return proxy;
  }

  /** From now on the store hangs after this many bytes. */
  hangAfter(bytes: number): void {
    [this.left, this.thenCuts] = [bytes, false];
  }

  /** From now on its connections break after this many bytes. */
  cutAfter(bytes: number): void {
    [this.left, this.thenCuts] = [bytes, true];
  }

  heal(): void {
    this.left = Infinity;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Number of open connections of the platform to the store. */
  get connections(): number {
    return this.sockets.size;
  }

  async stop(): Promise<void> {
    this.heal();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket, store: Socket): void {
    this.sockets.add(client);
    client.on('close', () => {
      this.sockets.delete(client);
      store.destroy();
    });
    // While the store hangs, the proxy keeps the client's connection open, too.
    store.on('close', () => (this.left > 0 || this.thenCuts) && client.destroy());
    for (const socket of [client, store]) socket.on('error', () => {});
    client.pipe(store);
    store.on('data', (chunk) => {
      if (this.left <= 0) {
        if (this.thenCuts) client.destroy();
        return;
      }
      this.left -= chunk.length;
      if (client.write(chunk)) return;
      store.pause();
      client.once('drain', () => store.resume());
    });
  }
}
