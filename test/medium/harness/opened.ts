import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { WebSocket } from 'ws';

/** An open connection of a caller, and its end. */
export interface Opened {
  /** Null while it is open; then the code of the closed WebSocket, the status of the response, or that it was aborted. */
  end(): number | 'broken off' | null;
  close(): void;
}

type Headers = Record<string, string>;

/** Returns once a WebSocket is open and has sent a message; throws the status if the upgrade was refused. */
export async function openSocket(
  url: string,
  headers: Headers,
): Promise<Opened & { socket: WebSocket; said: string[] }> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  let end: number | null = null;
  const said: string[] = [];
  socket.on('message', (message: Buffer) => said.push(message.toString()));
  socket.on('close', (code) => (end = code));
  await new Promise<void>((resolve, reject) => {
    socket.once('message', () => resolve());
    socket.once('close', (code) => reject(new Error(`closed: ${code}`)));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      response.resume();
      reject(new Error(String(response.statusCode)));
    });
  });
  return { socket, said, end: () => end, close: () => socket.terminate() };
}

/** Starts a download and returns once its first bytes have arrived. */
export async function openDownload(url: string, headers: Headers): Promise<Opened> {
  const request = httpRequest(url, { headers, agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(String(response.statusCode));
  let end: 'broken off' | number | null = null;
  response.on('error', () => (end = 'broken off')).on('end', () => (end = 200));
  await once(response, 'data');
  response.resume();
  return { end: () => end, close: () => request.destroy() };
}

/** Starts an upload that sends byte after byte and never ends. */
export async function openUpload(url: string, headers: Headers): Promise<Opened> {
  const request = httpRequest(url, { method: 'POST', headers, agent: false });
  let end: 'broken off' | number | null = null;
  request.on('error', () => (end ??= 'broken off'));
  request.on('response', (response: IncomingMessage) => {
    end = response.statusCode ?? 0;
    response.resume();
  });
  request.write('.');
  const timer = setInterval(() => request.write('.'), 20);
  request.on('close', () => clearInterval(timer));
  // Long enough for an immediate refusal to arrive.
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (end !== null) throw new Error(String(end));
  return {
    end: () => end,
    close: () => {
      clearInterval(timer);
      request.destroy();
    },
  };
}
