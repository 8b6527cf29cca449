import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { CORRELATION_HEADER } from '../../../../libs/contracts/agent-protocol';
import { toErrorResponse } from '../../kernel/errors/error-response';
import { DomainError, type ErrorKind } from '../../kernel/errors/domain-error';

/**
 * Largest head of a request, line and headers together, bytes: just enough for a filter by a thousand ids, each a
 * parameter of its own, since a stranger may keep one in memory on every connection.
 */
export const MAX_HEAD_BYTES = 40 * 1024;

/** How long a client that was answered may go on sending before its connection is closed. */
const LINGER_MS = 2_000;

/** By the parser's and the server's codes; the head is malformed otherwise. */
const REFUSALS: Readonly<Record<string, [kind: ErrorKind, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    'head-too-large',
    'REQUEST.HEAD_TOO_LARGE',
    `The head of a request, its address and headers, may have at most ${MAX_HEAD_BYTES} bytes.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['too-large', 'REQUEST.TOO_LARGE', 'The extensions of a chunk are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['timeout', 'REQUEST.TIMEOUT', 'The head of the request took too long to arrive.'],
};
const MALFORMED: [ErrorKind, string, string] = ['invalid', 'REQUEST.MALFORMED', 'This is not an HTTP request.'];

const answered = new WeakSet<Socket>();

/**
 * Answers what never became a request with the error body of the API, and closes the connection. The client gets a
 * moment to stop sending: if it were closed while sending, the connection would be reset and the answer lost.
 */
export function rejectMalformed({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  // The parser repeats it for everything that comes after, too.
  if (answered.has(socket)) return;
  answered.add(socket);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const correlationId = randomUUID();
  const { status, body } = toErrorResponse(new DomainError(...(REFUSALS[code] ?? MALFORMED)), correlationId, false);
  const json = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(json)}`,
    `${CORRELATION_HEADER}: ${correlationId}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(`${lines.join('\r\n')}\r\n\r\n${json}`);
  socket.resume();
}
