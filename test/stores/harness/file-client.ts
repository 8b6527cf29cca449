import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { PASSWORD, People } from '../../medium/harness/people';
import type { TestAnswer, TestApi } from '../../medium/harness/test-api';
import { encodedCredentials } from '../../samples/sample';

export type Query = Record<string, string | number | boolean>;

/** A bucket of a provider and its credentials. */
export interface BucketAccess {
  cloudProviderId: number;
  credentialTypeId: number;
  credentials: Record<string, string>;
  bucket: string;
}

export interface Upload {
  body?: Buffer | Readable;
  query?: Query;
  headers?: Record<string, string>;
}

/** An administrator of a new tenant. */
export async function tenantAdmin(api: TestApi): Promise<FileTenant> {
  const name = `t${randomBytes(6).toString('hex')}`;
  const people = new People(api);
  const tenantId = await people.tenant(name);
  const userId = await people.withPassword(name, [['ADMIN', tenantId]]);
  return new FileTenant(api, await api.login(name, PASSWORD), tenantId, userId);
}

export class FileTenant {
  constructor(
    readonly api: TestApi,
    readonly token: string,
    readonly tenantId: string,
    readonly userId: number,
  ) {}

  /** Creates a manager of the bucket through the API. */
  async manager(access: BucketAccess): Promise<FileClient> {
    const name = `m${randomBytes(6).toString('hex')}`;
    const credentials = await this.done('/credential_config', {
      name,
      credential_type_id: access.credentialTypeId,
      base64_encoded_credentials: encodedCredentials(access.credentials),
    });
    const manager = await this.done('/object_storage_manager', {
      name,
      cloud_provider_id: access.cloudProviderId,
      credentials_conf_id: Number(credentials.credentials_conf_id),
      object_storage_bucket_name: access.bucket,
    });
    return new FileClient(this, Number(manager.object_storage_manager_id), name);
  }

  private async done(path: string, body: object) {
    const answer = await this.api.call('POST', path, { token: this.token, body });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

/** Calls the file operations of one manager. */
export class FileClient {
  constructor(
    readonly tenant: FileTenant,
    readonly managerId: number,
    readonly managerName: string,
  ) {}

  list(query: Query = {}): Promise<TestAnswer> {
    return this.call('GET', '/files', query);
  }

  search(fileName: string, query: Query = {}): Promise<TestAnswer> {
    return this.call('GET', '/files/search', { file_name: fileName, ...query });
  }

  get(query: Query): Promise<TestAnswer> {
    return this.call('GET', '/file', query);
  }

  delete(query: Query): Promise<TestAnswer> {
    return this.call('DELETE', '/file', query);
  }

  /** Returns the signed address of a file. */
  async addressOf(query: Query): Promise<string> {
    const url = this.urlOf('/file/download', { ...query, redirect: true });
    const response = await fetch(url, { headers: this.headers, redirect: 'manual' });
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 307, text: '' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    return response.headers.get('location') ?? '';
  }

  download(query: Query, signal?: AbortSignal): Promise<Response> {
    return fetch(this.urlOf('/file/download', query), { headers: this.headers, signal });
  }

  /** Sends a buffer with its length, and a stream in chunks. */
  upload(path: string, { body, query = {}, headers = {} }: Upload = {}): Promise<TestAnswer> {
    return new Promise((resolve, reject) => {
      const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
      const request = httpRequest(this.urlOf('/files', { path, ...query }), {
        method: 'POST',
        agent: false,
        headers: { ...this.headers, 'content-type': 'application/octet-stream', ...length, ...headers },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          const { statusCode: status = 0 } = response;
          const answerHeaders = new Headers(response.headers as Record<string, string>);
          resolve({ status, headers: answerHeaders, body: text === '' ? null : JSON.parse(text) });
        });
      });
      if (body === undefined || Buffer.isBuffer(body)) request.end(body);
      else {
        body.on('error', (error) => request.destroy(error));
        body.pipe(request);
      }
    });
  }

  /** Returns the rows of the manager's current files, which are those with an id. */
  rows(): Promise<{ path: string; is_dir: boolean }[]> {
    return this.tenant.api.database.query(
      `SELECT path, is_dir FROM object_storage_files
       WHERE object_storage_manager_id = $1 AND to_date = 'infinity' ORDER BY path, is_dir`,
      [this.managerId],
    );
  }

  private call(method: string, path: string, query: Query): Promise<TestAnswer> {
    return this.tenant.api.call(method, this.pathOf(path, query), { token: this.tenant.token });
  }

  private urlOf(path: string, query: Query): string {
    return this.tenant.api.urlOf(this.pathOf(path, query));
  }

  private pathOf(path: string, query: Query): string {
    const all = { object_storage_manager_id: this.managerId, ...query };
    const text = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
    return `/object_storage_manager${path}?${new URLSearchParams(text).toString()}`;
  }

  private get headers() {
    return { authorization: `Bearer ${this.tenant.token}` };
  }
}

/** Calls each operation and returns the refusals; none may have an effect. */
export async function refusals(client: FileClient): Promise<{ statuses: number[]; bodies: Record<string, string>[] }> {
  const answers = [
    await client.list(),
    await client.search('x'),
    await client.get({ file_path: 'file' }),
    await client.upload('file', { body: Buffer.from('x') }),
    await client.upload('dir', { query: { is_dir: true } }),
    await client.delete({ file_path: 'file' }),
  ];
  const download = await client.download({ file_path: 'file' });
  const bodies = [...answers.map(({ body }): unknown => body), await download.json()];
  return {
    statuses: [...answers.map(({ status }) => status), download.status],
    bodies: bodies as Record<string, string>[],
  };
}

/** Returns a stream of this many bytes without a known length. */
export function bytes(size: number, { endsWith = 'end' }: { endsWith?: 'end' | 'failure' } = {}): Readable {
  const chunk = Buffer.alloc(64 * 1024, 'some bytes ');
  let sent = 0;
  return new Readable({
    read() {
      if (sent < size) {
        const next = chunk.subarray(0, Math.min(chunk.length, size - sent));
        sent += next.length;
        this.push(next);
      } else if (endsWith === 'end') this.push(null);
      else this.destroy(new Error('the client is gone'));
    },
  });
}
