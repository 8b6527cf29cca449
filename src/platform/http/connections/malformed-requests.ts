import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { CORRELATION_HEADER } from '../../../../libs/contracts/agent-protocol';
import { toErrorResponse } from '../../kernel/errors/error-response';
import { DomainError, type ErrorKind } from '../../kernel/errors/domain-error';

/**
 * Maximum size of a request's head, which is its first line and its headers; bytes. It is just enough for a filter by a
 * thousand ids in separate parameters, because every unauthenticated connection may keep one in memory.
 */
export const MAX_HEAD_BYTES = 40 * 1024;

/** Time after the response in which a client may still send before its connection is closed. */
const LINGER_MS = 2_000;

/** Errors by codes of the parser and the server. With any other code, the head is malformed. */
const REFUSALS: Readonly<Record<string, [kind: ErrorKind, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    'head-too-large',
    'REQUEST.HEAD_TOO_LARGE',
    `The URL and the headers of a request may have at most ${MAX_HEAD_BYTES} bytes together.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['too-large', 'REQUEST.TOO_LARGE', 'The extensions of a chunk are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'timeout',
    'REQUEST.TIMEOUT',
    'The URL and the headers of the request took too long to arrive.',
  ],
};
const MALFORMED: [ErrorKind, string, string] = ['invalid', 'REQUEST.MALFORMED', 'This is not an HTTP request.'];

const answered = new WeakSet<Socket>();

/**
 * Sends the API's error body for bytes that are not a request, and closes the connection. The client gets a moment to stop
 * sending: closing the connection while it sends would reset it, and the response would be lost.
 */
export function rejectMalformed({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  // The parser repeats the error for all following bytes.
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
