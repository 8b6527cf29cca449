import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Passes requests on to a server. The answer to the first POST of each kind is lost: it has arrived here, and then the client's
 * connection breaks. The first stream of a log is cut after a piece of it.
 */
export class LossyProxy {
  /** Last parts of the paths whose answer was lost. */
  readonly lost: string[] = [];
  /** The bytes at which streams of logs began. */
  readonly offsets: number[] = [];
  /** Length in bytes of the piece that arrived before the first stream was cut; a slow machine may send several lines in it. */
  pieceBeforeCut = 0;
  readonly #server: Server;
  readonly #losing: readonly string[];
  readonly #target: string;

  /** @param losing last parts of the paths of POSTs */
  constructor(target: string, losing: readonly string[]) {
    this.#target = target;
    this.#losing = losing;
    this.#server = createServer((incoming, answer) => this.#pass(incoming, answer));
  }

  /** Returns the address of the proxy. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', this.#target);
    const { host: _host, ...headers } = incoming.headers;
    const outgoing = request(url, { method: incoming.method, headers }, (response) => {
      const name = url.pathname.split('/').at(-1) ?? '';
      if (incoming.method === 'POST' && this.#losing.includes(name) && !this.lost.includes(name)) {
        this.lost.push(name);
        response.resume().on('end', () => answer.destroy());
        return;
      }
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.on('error', () => answer.destroy());
      const offset = url.searchParams.has('follow') ? Number(url.searchParams.get('offset')) : undefined;
      if (offset !== undefined && this.offsets.push(offset) === 1) {
        response.once('data', (piece: Buffer) => {
          this.pieceBeforeCut = piece.length;
          answer.write(piece, () => answer.destroy());
        });
      } else {
        response.pipe(answer);
      }
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }
}
