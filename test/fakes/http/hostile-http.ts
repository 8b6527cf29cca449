import type { RequestListener } from 'node:http';

/** Servers that can harm a client which trusts them, by their behaviour. */
export const HOSTILE_SERVERS = {
  'never answers': () => undefined,
  'hangs up': (request) => request.socket.destroy(),
  'sends a byte now and then': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
  'announces 2 GB': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 ** 31 });
    response.write('{"');
  },
  'sends without end': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const send = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', send);
    };
    send();
  },
  'sends half of an answer': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 });
    response.write('{"half', () => response.destroy());
  },
  'sends a login page': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end('<html><head><title>Sign in</title></head><body>Please sign in.</body></html>');
  },
  'sends no JSON': (_request, response) => response.end('{"tables": ['),
  'sends JSON of another kind': (_request, response) => response.end('[1, "two", null]'),
  'sends deep JSON': (_request, response) => response.end('['.repeat(4_000_000) + ']'.repeat(4_000_000)),
  'sends millions of values': (_request, response) => response.end(`{"a":[${'{},'.repeat(4_000_000)}{}]}`),
} satisfies Record<string, RequestListener>;

export type HostileServer = keyof typeof HOSTILE_SERVERS;

/** Answers every request alike; a body that is not text is sent as JSON. */
export function answering(status: number, body: unknown, headers: Record<string, string> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
