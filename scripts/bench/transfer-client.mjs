// Transfers one large object, by the SDK directly to the store or over HTTP through the API. The parent process sends the
// commands; this process ends with its parent.
import { request as httpRequest } from 'node:http';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** @typedef {import('node:stream').Readable} Readable */

/** The part size of the product. */
const PART_BYTES = 8 * 2 ** 20;
const PARALLEL_PARTS = 3;

const CHUNK = Buffer.alloc(256 * 1024, 'not only zeros ');

/**
 * The address and the keys of a store.
 * @typedef {{endpoint: string, keys: {accessKeyId: string, secretAccessKey: string}}} Store
 * @typedef {Store & {bucket: string, key: string, bytes: number}} SdkTransfer
 * @typedef {{url: string, token: string, bytes: number}} ApiTransfer
 *
 * @typedef {({kind: 'uploadBySdk' | 'downloadBySdk'} & SdkTransfer) | ({kind: 'uploadByApi' | 'downloadByApi'} & ApiTransfer)} Transfer
 */

/** @param {SdkTransfer} transfer @returns {Promise<number>} bytes, as for each of these functions */
async function uploadBySdk({ bucket: Bucket, key: Key, bytes, ...location }) {
  const client = clientOf(location);
  const part = Buffer.alloc(PART_BYTES, CHUNK);
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  /** @type {{PartNumber: number, ETag: string | undefined}[]} */
  const Parts = [];
  const count = Math.ceil(bytes / PART_BYTES);
  let next = 0;
  const sendParts = async () => {
    while (next < count) {
      const PartNumber = (next += 1);
      const Body = part.subarray(0, Math.min(PART_BYTES, bytes - (PartNumber - 1) * PART_BYTES));
      const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ETag });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_PARTS }, sendParts));
  Parts.sort((a, b) => a.PartNumber - b.PartNumber);
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
  client.destroy();
  return bytes;
}

/** @param {SdkTransfer} transfer @returns {Promise<number>} */
async function downloadBySdk({ bucket: Bucket, key: Key, ...location }) {
  const client = clientOf(location);
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  const received = await count(/** @type {Readable} */ (Body));
  client.destroy();
  return received;
}

/** @param {Store} store */
function clientOf({ endpoint, keys: { accessKeyId, secretAccessKey } }) {
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** @param {ApiTransfer} transfer @returns {Promise<number>} */
function uploadByApi({ url, token, bytes }) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' };
    const request = httpRequest(url, { method: 'POST', headers: { ...headers, 'content-length': bytes } });
    request.on('error', reject);
    request.on('response', (response) => {
      text(response)
        .then((body) => resolve(sizeIn(response, body)))
        .catch(reject);
    });
    write(request, bytes);
  });
}

/** @param {import('node:http').ClientRequest} request @param {number} left bytes */
function write(request, left) {
  while (left > 0) {
    const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length));
    left -= chunk.length;
    if (!request.write(chunk)) {
      const rest = left;
      request.once('drain', () => write(request, rest));
      return;
    }
  }
  request.end();
}

/** @param {import('node:http').IncomingMessage} response @param {string} body */
function sizeIn(response, body) {
  if (response.statusCode !== 200) throw new Error(`The upload was answered ${response.statusCode}: ${body}`);
  return Number(JSON.parse(body).file_size_bytes);
}

/** @param {ApiTransfer} transfer @returns {Promise<number>} */
function downloadByApi({ url, token }) {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers: { authorization: `Bearer ${token}` } });
    request.on('error', reject);
    request.on('response', (response) => {
      if (response.statusCode === 200) count(response).then(resolve, reject);
      else text(response).then((body) => reject(new Error(`Answered ${response.statusCode}: ${body}`)), reject);
    });
    request.end();
  });
}

/** @param {Readable} stream @returns {Promise<number>} bytes */
function count(stream) {
  return new Promise((resolve, reject) => {
    let received = 0;
    stream.on('data', (/** @type {Buffer} */ chunk) => (received += chunk.length));
    stream.on('error', reject);
    stream.on('end', () => resolve(received));
  });
}

/** @param {Readable} stream */
async function text(stream) {
  let all = '';
  for await (const chunk of stream) all += chunk;
  return all;
}

/** @param {Transfer} transfer */
function carry(transfer) {
  switch (transfer.kind) {
    case 'uploadBySdk':
      return uploadBySdk(transfer);
    case 'downloadBySdk':
      return downloadBySdk(transfer);
    case 'uploadByApi':
      return uploadByApi(transfer);
    case 'downloadByApi':
      return downloadByApi(transfer);
  }
}

process.on('message', (/** @type {Transfer} */ transfer) => {
  const started = performance.now();
  carry(transfer).then(
    (bytes) => process.send?.({ bytes, ms: performance.now() - started }),
    (/** @type {Error} */ error) => process.send?.({ error: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
