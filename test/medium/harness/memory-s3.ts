import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export const MEMORY_S3_KEYS = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };

/**
 * The part of the S3 API that small files need, over buckets in memory. For tests of the layers above the store; the store
 * itself is tested against real servers in `test/stores`.
 */
export class MemoryS3 {
  /** The access key id and the session token of each request. */
  readonly callers = new Set<string>();
  private readonly buckets = new Map<string, Map<string, Buffer>>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<MemoryS3> {
    const server = createServer();
    const s3 = new MemoryS3(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      s3.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return s3;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Creates the bucket if it does not exist. */
  put(bucket: string, key: string, content: Buffer): void {
    const files = this.buckets.get(bucket) ?? new Map<string, Buffer>();
    this.buckets.set(bucket, files.set(key, content));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization = '', 'x-amz-security-token': token = '' } = request.headers;
    this.callers.add(`${/Credential=([^/]+)/.exec(authorization)?.[1] ?? ''} ${String(token)}`.trim());
    const url = new URL(request.url ?? '/', this.url);
    const [bucket = '', ...names] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const key = names.join('/');
    const body = await buffer(request);
    const files = this.buckets.get(bucket);
    if (!files) return fail(response, 404, 'NoSuchBucket');
    switch (request.method ?? 'GET') {
      case 'PUT':
        if (request.headers['if-none-match'] === '*' && files.has(key))
          return fail(response, 412, 'PreconditionFailed');
        files.set(key, body);
        return void response.end();
      case 'DELETE':
        files.delete(key);
        return void response.writeHead(204).end();
      default:
        return key === '' ? list(files, url.searchParams, response) : give(files.get(key), response);
    }
  }
}

function give(content: Buffer | undefined, response: ServerResponse): void {
  if (!content) return fail(response, 404, 'NoSuchKey');
  response.setHeader('Content-Length', content.length).setHeader('Last-Modified', new Date().toUTCString());
  response.end(content);
}

/** Everything on one page. */
function list(files: Map<string, Buffer>, query: URLSearchParams, response: ServerResponse): void {
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')];
  const prefixes = new Set<string>();
  const objects: string[] = [];
  for (const [key, content] of files) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    if (end >= 0) prefixes.add(key.slice(0, end + 1));
    else objects.push(`<Contents><Key>${encodeURIComponent(key)}</Key><Size>${content.length}</Size></Contents>`);
  }
  const common = [...prefixes].map(
    (key) => `<CommonPrefixes><Prefix>${encodeURIComponent(key)}</Prefix></CommonPrefixes>`,
  );
  const content = [...objects, ...common].join('');
  response.setHeader('Content-Type', 'application/xml');
  response.end(
    `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>${content}</ListBucketResult>`,
  );
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
