import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackServer {
  url: string;
  /** Closes open connections too. */
  stop(): Promise<void>;
}

/** Serves HTTP on a loopback port: a free one, or the `wanted` one. Throws if that is taken. */
export async function serveOnLoopback(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  wanted = 0,
): Promise<LoopbackServer> {
  const server: Server = createServer(listener);
  await once(server.listen(wanted, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Reads the body of a request as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
