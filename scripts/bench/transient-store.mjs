// As much of the S3 API as a transfer needs, without a disk: what is uploaded is counted and forgotten, and an object
// `zeros-<bytes>` can be read that has so many bytes. As fast as the machine, or as its network is said to be. Told to start
// by its parent, and ends with it.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

const CHUNK = Buffer.alloc(256 * 1024, 'not only zeros ');
const UPLOAD_ID = 'upload';

/** What the network carries in each direction, of all connections together. */
let bytesPerSecond = Infinity;
let networkFreeAt = 0;

/** Waits until the network has carried so many bytes more. */
async function carried(bytes) {
  const now = performance.now();
  networkFreeAt = Math.max(now, networkFreeAt) + (bytes / bytesPerSecond) * 1000;
  // Timers are not finer than that.
  if (networkFreeAt - now > 5) await delay(networkFreeAt - now);
}

/** Sizes of what was uploaded, by path. */
const stored = new Map();

function sizeOf(path) {
  const generated = /\/zeros-(\d+)$/.exec(path)?.[1];
  return generated === undefined ? stored.get(path) : Number(generated);
}

function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://store');
  if (request.method === 'PUT') {
    // A client that breaks off is none of the store's business.
    take(request, response, pathname, searchParams.has('uploadId')).catch(() => response.destroy());
  } else if (request.method === 'POST') request.resume().on('end', () => multipart(response, searchParams));
  else if (searchParams.has('list-type')) xml(response, '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>');
  else give(request, response, sizeOf(pathname));
}

async function take(request, response, path, isPart) {
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    await carried(chunk.length);
  }
  stored.set(path, (isPart ? (stored.get(path) ?? 0) : 0) + size);
  response.setHeader('ETag', '"any"').end();
}

function multipart(response, query) {
  if (query.has('uploads')) {
    const id = `<UploadId>${UPLOAD_ID}</UploadId>`;
    xml(response, `<InitiateMultipartUploadResult>${id}</InitiateMultipartUploadResult>`);
  } else xml(response, '<CompleteMultipartUploadResult><ETag>any</ETag></CompleteMultipartUploadResult>');
}

function give(request, response, size) {
  if (size === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader('Content-Length', size).setHeader('Last-Modified', new Date(0).toUTCString());
  if (request.method === 'HEAD') response.end();
  else send(response, size);
}

function send(response, size) {
  Readable.from(chunksOf(size)).pipe(response);
}

async function* chunksOf(size) {
  for (let left = size; left > 0; left -= CHUNK.length) {
    const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length));
    await carried(chunk.length);
    yield chunk;
  }
}

function xml(response, content) {
  response.setHeader('Content-Type', 'application/xml').end(`<?xml version="1.0"?>${content}`);
}

process.once('message', (told) => {
  bytesPerSecond = told.bytesPerSecond ?? Infinity;
  const server = createServer(answer).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
process.once('disconnect', () => process.exit(0));
