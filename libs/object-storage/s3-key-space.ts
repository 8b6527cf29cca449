import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { OutboundAgents } from '../outbound-policy/outbound-policy';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import type { AddressOptions, ObjectStoreError } from './object-store';
import type { Part } from './part-upload';
import { errorField, storeFault } from './store-fault';

export interface S3Location {
  bucket: string;
  /** Null for Amazon S3 itself, whose endpoint follows from the region. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Required with temporary keys. */
  sessionToken?: string | undefined;
}

/** Outlasts a cancelled call, so that `discard` still learns the id of the upload it has to remove. */
const CREATE_UPLOAD_TIMEOUT_MS = 10_000;

/** Amazon S3 and stores with the same API. */
export class S3KeySpace implements KeySpace {
  readonly maxParts = 10_000;
  readonly parallelParts = 3;
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly secrets: readonly string[];
  private readonly hasToken: boolean;

  constructor(location: S3Location, agents: OutboundAgents, timeoutMs: number) {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey, sessionToken } = location;
    this.bucket = bucket;
    this.secrets = [secretAccessKey, sessionToken ?? ''];
    this.hasToken = sessionToken !== undefined;
    this.client = new S3Client({
      region,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
      ...(endpoint === null ? { followRegionRedirects: true } : { endpoint, forcePathStyle: true }),
      maxAttempts: 3,
      // Parts are signed with their SHA-256, which the store checks; not every store supports further checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { httpAgent: agents.http, httpsAgent: agents.https, connectionTimeout: timeoutMs },
    });
  }

  async list({ prefix, delimited, token, limit }: KeyListRequest, abortSignal: AbortSignal): Promise<KeyPage> {
    const command = new ListObjectsV2Command({
      Bucket: this.bucket,
      Prefix: prefix,
      Delimiter: delimited ? '/' : undefined,
      ContinuationToken: token ?? undefined,
      MaxKeys: limit,
      // Keys may contain characters that XML cannot.
      EncodingType: 'url',
    });
    const response = await this.client.send(command, { abortSignal });
    const decode = response.EncodingType === 'url' ? decodeKey : (key: string) => key;
    return {
      objects: (response.Contents ?? []).map((object) => ({
        key: decode(object.Key ?? ''),
        sizeBytes: object.Size ?? 0,
        lastModified: object.LastModified ?? null,
        contentType: null,
      })),
      prefixes: (response.CommonPrefixes ?? []).map(({ Prefix = '' }) => decode(Prefix)),
      nextToken: response.IsTruncated ? (response.NextContinuationToken ?? null) : null,
    };
  }

  async head(key: string, abortSignal: AbortSignal): Promise<KeyInfo | null> {
    try {
      const response = await this.client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: key }), {
        abortSignal,
      });
      return {
        key,
        sizeBytes: response.ContentLength ?? 0,
        lastModified: response.LastModified ?? null,
        contentType: response.ContentType ?? null,
      };
    } catch (error) {
      // The response to a HEAD has no body, so a missing bucket looks like a missing key.
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  async open(key: string, range: { start: number; end?: number } | null, abortSignal: AbortSignal) {
    const Range = range ? `bytes=${range.start}-${range.end ?? ''}` : undefined;
    const command = new GetObjectCommand({ Bucket: this.bucket, Key: key, Range });
    const response = await this.client.send(command, { abortSignal });
    const lengthBytes = response.ContentLength ?? 0;
    const totalBytes = Number(/\/(\d+)$/.exec(response.ContentRange ?? '')?.[1] ?? lengthBytes);
    const { LastModified = null, ContentType = null } = response;
    return {
      info: { key, sizeBytes: totalBytes, lastModified: LastModified, contentType: ContentType },
      lengthBytes,
      stream: response.Body as Readable,
    };
  }

  async address(
    key: string,
    { contentDisposition, contentType, validSeconds }: AddressOptions,
  ): Promise<string | null> {
    // The address would contain the token.
    if (this.hasToken) return null;
    const command = new GetObjectCommand({
      Bucket: this.bucket,
      Key: key,
      ResponseContentDisposition: contentDisposition,
      ResponseContentType: contentType,
    });
    return getSignedUrl(this.client, command, { expiresIn: validSeconds });
  }

  upload(request: KeyUploadRequest): KeyUpload {
    return new S3Upload(this.client, this.bucket, request);
  }

  async delete(keys: string[], abortSignal: AbortSignal): Promise<void> {
    const [key] = keys;
    if (keys.length === 1) {
      await this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: key }), { abortSignal });
      return;
    }
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const response = await this.client.send(new DeleteObjectsCommand({ Bucket: this.bucket, Delete }), { abortSignal });
    const failed = response.Errors?.[0];
    if (!failed) return;
    const failure = { status: 400, code: failed.Code, reason: failed.Message ?? '' };
    throw storeFault(failure, this.secrets, failed);
  }

  fault(error: unknown): ObjectStoreError {
    // The SDK sets a name on its errors, and a code on network errors.
    const code = errorField(error, 'code') ?? errorField(error, 'name');
    const reason = errorField(error, 'message') ?? '';
    return storeFault({ status: statusOf(error), code, reason }, this.secrets, error);
  }
}

class S3Upload implements KeyUpload {
  private readonly target: { Bucket: string; Key: string };
  private readonly condition: { IfNoneMatch?: string };
  private readonly parts: { PartNumber: number; ETag: string | undefined }[] = [];
  private created: Promise<string | undefined> | null = null;

  constructor(
    private readonly client: S3Client,
    bucket: string,
    private readonly request: KeyUploadRequest,
  ) {
    this.target = { Bucket: bucket, Key: request.key };
    this.condition = request.overwrite ? {} : { IfNoneMatch: '*' };
  }

  async send({ number, data, isLast }: Part, abortSignal: AbortSignal): Promise<void> {
    if (number === 1 && isLast) {
      const object = { ContentType: this.request.contentType, ContentLength: data.length, Body: data };
      await this.client.send(new PutObjectCommand({ ...this.target, ...this.condition, ...object }), { abortSignal });
      return;
    }
    const UploadId = await this.createUpload();
    const part = { UploadId, PartNumber: number, ContentLength: data.length, Body: data };
    const { ETag } = await this.client.send(new UploadPartCommand({ ...this.target, ...part }), { abortSignal });
    this.parts.push({ PartNumber: number, ETag });
  }

  async finish(abortSignal: AbortSignal): Promise<void> {
    if (!this.created) return;
    const Parts = this.parts.sort((a, b) => a.PartNumber - b.PartNumber);
    const end = { UploadId: await this.created, MultipartUpload: { Parts } };
    const command = new CompleteMultipartUploadCommand({ ...this.target, ...this.condition, ...end });
    await this.client.send(command, { abortSignal });
  }

  async discard(abortSignal: AbortSignal): Promise<void> {
    const UploadId = await this.created?.catch(() => undefined);
    if (UploadId === undefined) return;
    await this.client.send(new AbortMultipartUploadCommand({ ...this.target, UploadId }), { abortSignal });
  }

  /** Ignores the upload's signal: without the response, an upload that the store has begun could not be removed. */
  private createUpload(): Promise<string | undefined> {
    const { contentType: ContentType } = this.request;
    this.created ??= this.client
      .send(new CreateMultipartUploadCommand({ ...this.target, ContentType }), {
        abortSignal: AbortSignal.timeout(CREATE_UPLOAD_TIMEOUT_MS),
      })
      .then(({ UploadId }) => UploadId);
    return this.created;
  }
}

function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
