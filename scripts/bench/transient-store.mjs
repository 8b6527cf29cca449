// Implements as much of the S3 API as a transfer needs, without a disk: uploads are counted and forgotten, and an object
// `zeros-<bytes>` of that size can be read. It is as fast as the machine, or as a simulated network. The parent process sends
// the instructions; this process ends with its parent.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse} Response
 *
 * Instructions of the parent: the rate of the simulated network, unlimited if absent.
 * @typedef {{bytesPerSecond?: number}} Instructions
 */

const CHUNK = Buffer.alloc(256 * 1024, 'not only zeros ');
const UPLOAD_ID = 'upload';

/** Rate of the simulated network in each direction, shared by all connections. */
let bytesPerSecond = Infinity;
let networkFreeAt = 0;

/**
 * Waits until the network has transferred this many more bytes.
 * @param {number} bytes
 */
async function carried(bytes) {
  const now = performance.now();
  networkFreeAt = Math.max(now, networkFreeAt) + (bytes / bytesPerSecond) * 1000;
  // Timers are not more precise than this.
  if (networkFreeAt - now > 5) await delay(networkFreeAt - now);
}

/** Sizes of the uploads by path. @type {Map<string, number>} */
const stored = new Map();

/** @param {string} path @returns {number | undefined} bytes; undefined if there is no object */
function sizeOf(path) {
  const generated = /\/zeros-(\d+)$/.exec(path)?.[1];
  return generated === undefined ? stored.get(path) : Number(generated);
}

/** @param {Request} request @param {Response} response */
function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://store');
  if (request.method === 'PUT') {
    // A client that disconnects is not an error of the store.
    take(request, response, pathname, searchParams.has('uploadId')).catch(() => response.destroy());
  } else if (request.method === 'POST') request.resume().on('end', () => multipart(response, searchParams));
  else if (searchParams.has('list-type')) xml(response, '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>');
  else give(request, response, sizeOf(pathname));
}

/** @param {Request} request @param {Response} response @param {string} path @param {boolean} isPart */
async function take(request, response, path, isPart) {
  let size = 0;
  for await (const chunk of /** @type {AsyncIterable<Buffer>} */ (request)) {
    size += chunk.length;
    await carried(chunk.length);
  }
  stored.set(path, (isPart ? (stored.get(path) ?? 0) : 0) + size);
  response.setHeader('ETag', '"any"').end();
}

/** @param {Response} response @param {URLSearchParams} query */
function multipart(response, query) {
  if (query.has('uploads')) {
    const id = `<UploadId>${UPLOAD_ID}</UploadId>`;
    xml(response, `<InitiateMultipartUploadResult>${id}</InitiateMultipartUploadResult>`);
  } else xml(response, '<CompleteMultipartUploadResult><ETag>any</ETag></CompleteMultipartUploadResult>');
}

/** @param {Request} request @param {Response} response @param {number | undefined} size */
function give(request, response, size) {
  if (size === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('Content-Length', size).setHeader('Last-Modified', new Date(0).toUTCString());
  if (request.method === 'HEAD') response.end();
  else send(response, size);
}

/** @param {Response} response @param {number} size */
function send(response, size) {
  Readable.from(chunksOf(size)).pipe(response);
}

/** @param {number} size */
async function* chunksOf(size) {
  for (let left = size; left > 0; left -= CHUNK.length) {
    const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length));
    await carried(chunk.length);
    yield chunk;
  }
}

/** @param {Response} response @param {string} content */
function xml(response, content) {
  response.setHeader('Content-Type', 'application/xml').end(`<?xml version="1.0"?>${content}`);
}

process.once('message', (/** @type {Instructions} */ instructions) => {
  bytesPerSecond = instructions.bytesPerSecond ?? Infinity;
  const server = createServer(answer).listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    process.send?.({ port });
  });
});
process.once('disconnect', () => process.exit(0));
