import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { type Bucket, type FileMetadata, Storage } from '@google-cloud/storage';
import { type AuthClient, JWT, OAuth2Client } from 'google-auth-library';
import { readUntrusted, SHORT_JSON } from '../json/parse-json';
import type { OutboundAgents } from '../outbound-policy/outbound-policy';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import { type AddressOptions, ObjectStoreError } from './object-store';
import { deleteInParallel } from './parallel-deletes';
import type { Part } from './part-upload';
import { errorField, storeFault } from './store-fault';

export interface GcsLocation {
  bucket: string;
  endpoint: string;
  client: AuthClient;
  /** Texts that must not appear in messages. */
  secrets: readonly string[];
}

const GOOGLE_ENDPOINT = 'https://storage.googleapis.com';

/** The status with which the store accepts a chunk and expects more. */
const RESUME_INCOMPLETE = 308;

/** Sending a chunk again does no harm: the store skips the bytes that it has. */
const RETRIES = {
  retryConfig: {
    retry: 2,
    httpMethodsToRetry: ['GET', 'PUT'],
    statusCodesToRetry: [
      [408, 408],
      [429, 429],
      [500, 599],
    ],
  },
};

/**
 * Google Cloud Storage. Content goes through the SDK's authenticated HTTP client rather than its file streams: those
 * cannot be stopped without closing the connections of all other transfers. An upload is a resumable session of one
 * request or many.
 */
export class GcsKeySpace implements KeySpace {
  readonly maxParts = 655_360;
  /** A session accepts its chunks in order only. */
  readonly parallelParts = 1;
  private readonly bucket: Bucket;
  private readonly agent: Agent;

  constructor(
    private readonly location: GcsLocation,
    agents: OutboundAgents,
    timeoutMs: number,
  ) {
    this.agent = location.endpoint.startsWith('https:') ? agents.https : agents.http;
    const storage = new Storage({
      authClient: location.client,
      apiEndpoint: location.endpoint,
      useAuthWithCustomEndpoint: true,
      timeout: timeoutMs,
      retryOptions: { autoRetry: true, maxRetries: 2, totalTimeout: timeoutMs / 1000, maxRetryDelay: 4 },
    });
    this.bucket = storage.bucket(location.bucket);
  }

  async list({ prefix, delimited, token, limit }: KeyListRequest): Promise<KeyPage> {
    const page = { pageToken: token ?? undefined, maxResults: limit, autoPaginate: false };
    const query = { prefix, delimiter: delimited ? '/' : undefined, ...page };
    const [files, , response] = await this.bucket.getFiles(query).catch(throwMissingBucket);
    const { prefixes, nextPageToken } = response as { prefixes?: string[]; nextPageToken?: string };
    return {
      objects: files.map(({ name, metadata }) => infoOf(name, metadata)),
      prefixes: prefixes ?? [],
      nextToken: nextPageToken ? nextPageToken : null,
    };
  }

  async head(key: string): Promise<KeyInfo | null> {
    try {
      const [metadata] = await this.bucket.file(key).getMetadata();
      return infoOf(key, metadata);
    } catch (error) {
      if (failureOf(error).status === 404) return null;
      throw error;
    }
  }

  async open(key: string, range: { start: number; end?: number } | null, signal: AbortSignal) {
    // Destroying the stream does not close its connection, so this signal does.
    const connection = new AbortController();
    const endConnection = () => connection.abort();
    signal.addEventListener('abort', endConnection, { once: true });
    const { bucket, endpoint, client } = this.location;
    const response = await client.request<Readable>({
      url: `${endpoint}/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(key)}?alt=media`,
      headers: {
        // A file that is stored compressed must be returned as it is stored.
        'Accept-Encoding': 'gzip',
        ...(range ? { Range: `bytes=${range.start}-${range.end ?? ''}` } : {}),
      },
      ...AS_STORED,
      ...RETRIES,
      responseType: 'stream',
      agent: this.agent,
      signal: connection.signal,
    });
    const { data: stream, headers } = response;
    stream.once('close', endConnection);
    const header = (name: string) => (headers as Record<string, string | undefined>)[name];
    const lengthBytes = Number(header('content-length'));
    const modified = header('last-modified');
    const info = {
      key,
      sizeBytes: Number(/\/(\d+)$/.exec(header('content-range') ?? '')?.[1] ?? lengthBytes),
      lastModified: modified ? new Date(modified) : null,
      contentType: header('content-type') ?? null,
    };
    return { info, lengthBytes, stream };
  }

  async address(
    key: string,
    { contentDisposition, contentType, validSeconds }: AddressOptions,
  ): Promise<string | null> {
    const { client, endpoint, bucket } = this.location;
    // Only a private key can sign without a call to Google.
    if (!(client instanceof JWT) || client.email === undefined || client.key === undefined) return null;
    const credentials = { client_email: client.email, private_key: client.key };
    const signer = new Storage({ credentials, apiEndpoint: endpoint });
    const [address] = await signer
      .bucket(bucket)
      .file(key)
      .getSignedUrl({
        version: 'v4',
        action: 'read',
        expires: Date.now() + validSeconds * 1_000,
        responseDisposition: contentDisposition,
        responseType: contentType,
      });
    return address;
  }

  upload(request: KeyUploadRequest): KeyUpload {
    return new GcsUpload(this.bucket, this.location.client, this.agent, request);
  }

  async delete(keys: string[]): Promise<void> {
    await deleteInParallel(keys, (key) => this.bucket.file(key).delete({ ignoreNotFound: true }));
  }

  fault(error: unknown): ObjectStoreError {
    return storeFault(failureOf(error), this.location.secrets, error);
  }
}

class GcsUpload implements KeyUpload {
  private session: string | null = null;
  private isStored = false;

  constructor(
    private readonly bucket: Bucket,
    private readonly client: AuthClient,
    private readonly agent: Agent,
    private readonly request: KeyUploadRequest,
  ) {}

  async send({ offset, data, isLast }: Part, signal: AbortSignal): Promise<void> {
    this.session ??= await this.begin();
    const totalBytes = isLast ? String(offset + data.length) : '*';
    for (let sent = 0; ;) {
      const stored = await this.put(this.session, data.subarray(sent), offset + sent, totalBytes, signal);
      if (stored === 'whole') {
        this.isStored = true;
        return;
      }
      const accepted = stored - offset;
      if (accepted === data.length && !isLast) return;
      if (accepted <= sent || accepted > data.length)
        throw new ObjectStoreError('UNAVAILABLE', 'The store lost a part of the upload. Upload the file again.');
      sent = accepted;
    }
  }

  async finish(): Promise<void> {
    // The last chunk has finished the upload.
  }

  async discard(signal: AbortSignal): Promise<void> {
    if (this.session === null || this.isStored) return;
    const [url, agent] = [this.session, this.agent];
    await this.client.request({ method: 'DELETE', url, agent, signal, validateStatus: () => true });
  }

  private async begin(): Promise<string> {
    const { key, contentType, overwrite } = this.request;
    const options = {
      metadata: { contentType },
      preconditionOpts: overwrite ? undefined : { ifGenerationMatch: 0 },
    };
    const [session] = await this.bucket.file(key).createResumableUpload(options).catch(throwMissingBucket);
    return session;
  }

  /** Sends a chunk; returns the number of bytes of the file that the store has. */
  private async put(
    url: string,
    data: Buffer,
    offset: number,
    totalBytes: string,
    signal: AbortSignal,
  ): Promise<number | 'whole'> {
    const range = data.length === 0 ? '*' : `${offset}-${offset + data.length - 1}`;
    const response = await this.client.request({
      ...RETRIES,
      method: 'PUT',
      url,
      headers: { 'Content-Range': `bytes ${range}/${totalBytes}`, 'Content-Type': this.request.contentType },
      body: data,
      agent: this.agent,
      signal,
      validateStatus: (status) => status < 300 || status === RESUME_INCOMPLETE,
    });
    if (response.status !== RESUME_INCOMPLETE) return 'whole';
    const { range: stored = '' } = response.headers as Record<string, string | undefined>;
    return Number(/-(\d+)$/.exec(stored)?.[1] ?? -1) + 1;
  }
}

/** Locates a bucket that is opened with an access token. */
export function gcsTokenLocation({ bucket, token }: { bucket: string; token: string }): GcsLocation {
  const client = new OAuth2Client();
  client.setCredentials({ access_token: token });
  return { bucket, endpoint: GOOGLE_ENDPOINT, client, secrets: [token] };
}

/** Locates a bucket that is opened by a service account. */
export function gcsLocation(keys: { bucket: string; clientEmail: string; privateKey: string }): GcsLocation {
  const scopes = ['https://www.googleapis.com/auth/devstorage.read_write'];
  return {
    bucket: keys.bucket,
    endpoint: GOOGLE_ENDPOINT,
    client: new JWT({ email: keys.clientEmail, key: keys.privateKey, scopes }),
    secrets: [keys.privateKey],
  };
}

/** An option of the client's HTTP library that its types lack. */
const AS_STORED: object = { compress: false };

function infoOf(key: string, metadata: FileMetadata): KeyInfo {
  return {
    key,
    sizeBytes: Number(metadata.size ?? 0),
    lastModified: metadata.updated ? new Date(metadata.updated) : null,
    contentType: metadata.contentType ?? null,
  };
}

/** Translates a 404 of calls that need nothing but the bucket: whatever the message says, the bucket is missing. */
function throwMissingBucket(error: unknown): never {
  const failure = failureOf(error);
  if (failure.status !== 404) throw error;
  throw storeFault({ ...failure, code: 'NoSuchBucket' }, [], error);
}

/** Reads errors of the SDK and of its HTTP client, from the storage API or from the sign-in. */
function failureOf(error: unknown): { status: number | undefined; code: string | undefined; reason: string } {
  const { code, status, response } = error as {
    code?: unknown;
    status?: unknown;
    response?: { data?: unknown; status?: unknown };
  };
  const body = parsed(response?.data);
  const details =
    typeof body.error === 'object' && body.error !== null ? (body.error as Record<string, unknown>) : body;
  const reason = [body.error_description, details.message, errorField(error, 'message')].find(isText) ?? '';
  const codes = [body.error, code, errorField(error, 'code'), errorField(error, 'name')].filter(isText);
  return {
    status: [code, status, response?.status].map(Number).find((number) => number >= 100 && number < 600),
    code: /bucket does not exist/i.test(reason) ? 'NoSuchBucket' : codes.map(codeOf).find(isText),
    reason,
  };
}

/** OpenSSL's errors about the private key mean that the credential is invalid. */
function codeOf(code: string): string {
  return code.startsWith('ERR_OSSL') ? 'InvalidToken' : code;
}

function parsed(data: unknown): Record<string, unknown> {
  // The status says enough if the body is not JSON.
  const value = typeof data === 'string' ? readUntrusted(data, SHORT_JSON) : data;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
