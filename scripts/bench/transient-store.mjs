// As much of the S3 API as a transfer needs, without a disk: what is uploaded is counted and forgotten, and an object
// `zeros-<bytes>` can be read that has so many bytes. Told to start by its parent, and ends with it.
import { createServer } from 'node:http';

const CHUNK = Buffer.alloc(256 * 1024, 'not only zeros ');
const UPLOAD_ID = 'upload';

/** Sizes of what was uploaded, by path. */
const stored = new Map();

function sizeOf(path) {
  const generated = /\/zeros-(\d+)$/.exec(path)?.[1];
  return generated === undefined ? stored.get(path) : Number(generated);
}

function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://store');
  if (request.method === 'PUT') take(request, response, pathname, searchParams.has('uploadId'));
  else if (request.method === 'POST') request.resume().on('end', () => multipart(response, searchParams));
  else if (searchParams.has('list-type')) xml(response, '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>');
  else give(request, response, sizeOf(pathname));
}

function take(request, response, path, isPart) {
  let size = 0;
  request.on('data', (chunk) => (size += chunk.length));
  request.on('end', () => {
    stored.set(path, (isPart ? (stored.get(path) ?? 0) : 0) + size);
    response.setHeader('ETag', '"any"').end();
  });
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

function send(response, left) {
  while (left > 0) {
    const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length));
    left -= chunk.length;
    if (!response.write(chunk)) {
      const rest = left;
      response.once('drain', () => send(response, rest));
      return;
    }
  }
  response.end();
}

function xml(response, content) {
  response.setHeader('Content-Type', 'application/xml').end(`<?xml version="1.0"?>${content}`);
}

process.once('message', () => {
  const server = createServer(answer).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
process.once('disconnect', () => process.exit(0));
