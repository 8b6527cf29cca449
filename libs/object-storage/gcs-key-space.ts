import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { type Bucket, type FileMetadata, Storage } from '@google-cloud/storage';
import { type AuthClient, JWT, OAuth2Client } from 'google-auth-library';
import { readUntrusted, SHORT_JSON } from '../json/parse-json';
import type { OutboundAgents } from '../outbound-policy/outbound-policy';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import { ObjectStoreError } from './object-store';
import { deleteInParallel } from './parallel-deletes';
import type { Part } from './part-upload';
import { errorField, storeFault } from './store-fault';

export interface GcsLocation {
  bucket: string;
  endpoint: string;
  client: AuthClient;
  /** What must not appear in messages. */
  secrets: readonly string[];
}

const GOOGLE_ENDPOINT = 'https://storage.googleapis.com';

/** A chunk was taken and more is expected. */
const RESUME_INCOMPLETE = 308;

/** Repeating a chunk does no harm: the store skips what it has of it. */
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
 * Google Cloud Storage. Content goes through the SDK's signed-in HTTP client rather than its file streams, which cannot be
 * ended without the connections of all other transfers. An upload is a resumable session, of one request or many.
 */
export class GcsKeySpace implements KeySpace {
  readonly maxParts = 655_360;
  /** A session takes its chunks in order. */
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
    const [files, , answer] = await this.bucket.getFiles(query).catch(throwMissingBucket);
    const { prefixes, nextPageToken } = answer as { prefixes?: string[]; nextPageToken?: string };
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
    // Destroying the stream does not end its connection, this signal does.
    const connection = new AbortController();
    const endConnection = () => connection.abort();
    signal.addEventListener('abort', endConnection, { once: true });
    const { bucket, endpoint, client } = this.location;
    const answer = await client.request<Readable>({
      url: `${endpoint}/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(key)}?alt=media`,
      headers: {
        // A file stored compressed is given as it is stored.
        'Accept-Encoding': 'gzip',
        ...(range ? { Range: `bytes=${range.start}-${range.end ?? ''}` } : {}),
      },
      ...AS_STORED,
      ...RETRIES,
      responseType: 'stream',
      agent: this.agent,
      signal: connection.signal,
    });
    const { data: stream, headers } = answer;
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
    const wholeBytes = isLast ? String(offset + data.length) : '*';
    for (let sent = 0; ;) {
      const stored = await this.put(this.session, data.subarray(sent), offset + sent, wholeBytes, signal);
      if (stored === 'whole') {
        this.isStored = true;
        return;
      }
      const taken = stored - offset;
      if (taken === data.length && !isLast) return;
      if (taken <= sent || taken > data.length)
        throw new ObjectStoreError('UNAVAILABLE', 'The store lost a part of the upload.');
      sent = taken;
    }
  }

  async finish(): Promise<void> {
    // The last chunk has finished it.
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

  /** Answers how much of the file the store has. */
  private async put(
    url: string,
    data: Buffer,
    offset: number,
    wholeBytes: string,
    signal: AbortSignal,
  ): Promise<number | 'whole'> {
    const range = data.length === 0 ? '*' : `${offset}-${offset + data.length - 1}`;
    const answer = await this.client.request({
      ...RETRIES,
      method: 'PUT',
      url,
      headers: { 'Content-Range': `bytes ${range}/${wholeBytes}`, 'Content-Type': this.request.contentType },
      body: data,
      agent: this.agent,
      signal,
      validateStatus: (status) => status < 300 || status === RESUME_INCOMPLETE,
    });
    if (answer.status !== RESUME_INCOMPLETE) return 'whole';
    const { range: stored = '' } = answer.headers as Record<string, string | undefined>;
    return Number(/-(\d+)$/.exec(stored)?.[1] ?? -1) + 1;
  }
}

/** Google's storage, opened with an access token that somebody else obtained. */
export function gcsTokenLocation({ bucket, token }: { bucket: string; token: string }): GcsLocation {
  const client = new OAuth2Client();
  client.setCredentials({ access_token: token });
  return { bucket, endpoint: GOOGLE_ENDPOINT, client, secrets: [token] };
}

/** Google's storage, signed in to as a service account. */
export function gcsLocation(keys: { bucket: string; clientEmail: string; privateKey: string }): GcsLocation {
  const scopes = ['https://www.googleapis.com/auth/devstorage.read_write'];
  return {
    bucket: keys.bucket,
    endpoint: GOOGLE_ENDPOINT,
    client: new JWT({ email: keys.clientEmail, key: keys.privateKey, scopes }),
    secrets: [keys.privateKey],
  };
}

/** An option of the client's HTTP library that its types do not name. */
const AS_STORED: object = { compress: false };

function infoOf(key: string, metadata: FileMetadata): KeyInfo {
  return {
    key,
    sizeBytes: Number(metadata.size ?? 0),
    lastModified: metadata.updated ? new Date(metadata.updated) : null,
    contentType: metadata.contentType ?? null,
  };
}

/** For calls that need nothing but the bucket: whatever the words of the answer, absent is the bucket. */
function throwMissingBucket(error: unknown): never {
  const failure = failureOf(error);
  if (failure.status !== 404) throw error;
  throw storeFault({ ...failure, code: 'NoSuchBucket' }, [], error);
}

/** Reads errors of both of Google's libraries: the SDK's own and those of its HTTP client, from storage or from sign-in. */
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
  const words = [body.error, code, errorField(error, 'code'), errorField(error, 'name')].filter(isText);
  return {
    status: [code, status, response?.status].map(Number).find((number) => number >= 100 && number < 600),
    code: /bucket does not exist/i.test(reason) ? 'NoSuchBucket' : words.map(knownWord).find(isText),
    reason,
  };
}

/** OpenSSL's complaints about the private key are about the credential. */
function knownWord(word: string): string {
  return word.startsWith('ERR_OSSL') ? 'InvalidToken' : word;
}

function parsed(data: unknown): Record<string, unknown> {
  // The status says enough if the body is not JSON.
  const value = typeof data === 'string' ? readUntrusted(data, SHORT_JSON) : data;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
