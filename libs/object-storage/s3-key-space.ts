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
import type { OutboundAgents } from '../outbound-policy/outbound-policy';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import type { ObjectStoreError } from './object-store';
import type { Part } from './part-upload';
import { errorField, storeFault } from './store-fault';

export interface S3Location {
  bucket: string;
  /** Null for Amazon S3 itself, which is found by its region. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Required with temporary keys. */
  sessionToken?: string | undefined;
}

/** How long it may take to learn of and remove an upload whose first request was given up. */
const STRAY_UPLOAD_MS = 10_000;

/** Amazon S3 and what speaks its API. */
export class S3KeySpace implements KeySpace {
  readonly maxParts = 10_000;
  readonly parallelParts = 3;
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly secrets: readonly string[];

  constructor(location: S3Location, agents: OutboundAgents, timeoutMs: number) {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey, sessionToken } = location;
    this.bucket = bucket;
    this.secrets = [secretAccessKey, sessionToken ?? ''];
    this.client = new S3Client({
      region,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
      ...(endpoint === null ? { followRegionRedirects: true } : { endpoint, forcePathStyle: true }),
      maxAttempts: 3,
      // Parts are signed with their SHA-256, which the store checks; further checksums are not known to every store.
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
      // Keys may hold what XML cannot.
      EncodingType: 'url',
    });
    const answer = await this.client.send(command, { abortSignal });
    const decode = answer.EncodingType === 'url' ? decodeKey : (key: string) => key;
    return {
      objects: (answer.Contents ?? []).map((object) => ({
        key: decode(object.Key ?? ''),
        sizeBytes: object.Size ?? 0,
        lastModified: object.LastModified ?? null,
        contentType: null,
      })),
      prefixes: (answer.CommonPrefixes ?? []).map(({ Prefix = '' }) => decode(Prefix)),
      nextToken: answer.IsTruncated ? (answer.NextContinuationToken ?? null) : null,
    };
  }

  async head(key: string, abortSignal: AbortSignal): Promise<KeyInfo | null> {
    try {
      const answer = await this.client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: key }), { abortSignal });
      return {
        key,
        sizeBytes: answer.ContentLength ?? 0,
        lastModified: answer.LastModified ?? null,
        contentType: answer.ContentType ?? null,
      };
    } catch (error) {
      // The answer of a HEAD has no body that would tell a missing bucket from a missing key.
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  async open(key: string, range: { start: number; end?: number } | null, abortSignal: AbortSignal) {
    const Range = range ? `bytes=${range.start}-${range.end ?? ''}` : undefined;
    const command = new GetObjectCommand({ Bucket: this.bucket, Key: key, Range });
    const answer = await this.client.send(command, { abortSignal });
    const lengthBytes = answer.ContentLength ?? 0;
    const wholeBytes = Number(/\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? lengthBytes);
    const { LastModified = null, ContentType = null } = answer;
    return {
      info: { key, sizeBytes: wholeBytes, lastModified: LastModified, contentType: ContentType },
      lengthBytes,
      stream: answer.Body as Readable,
    };
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
    const answer = await this.client.send(new DeleteObjectsCommand({ Bucket: this.bucket, Delete }), { abortSignal });
    const failed = answer.Errors?.[0];
    if (!failed) return;
    const failure = { status: 400, code: failed.Code, reason: failed.Message ?? '' };
    throw storeFault(failure, this.secrets, failed);
  }

  fault(error: unknown): ObjectStoreError {
    // The SDK gives names to errors, and codes to those of the network.
    const code = errorField(error, 'code') ?? errorField(error, 'name');
    const reason = errorField(error, 'message') ?? '';
    return storeFault({ status: statusOf(error), code, reason }, this.secrets, error);
  }
}

class S3Upload implements KeyUpload {
  private readonly target: { Bucket: string; Key: string };
  private readonly condition: { IfNoneMatch?: string };
  private readonly parts: { PartNumber: number; ETag: string | undefined }[] = [];
  private started: Promise<string | undefined> | null = null;

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
    const UploadId = await this.start();
    const part = { UploadId, PartNumber: number, ContentLength: data.length, Body: data };
    const { ETag } = await this.client.send(new UploadPartCommand({ ...this.target, ...part }), { abortSignal });
    this.parts.push({ PartNumber: number, ETag });
  }

  async finish(abortSignal: AbortSignal): Promise<void> {
    if (!this.started) return;
    const Parts = this.parts.sort((a, b) => a.PartNumber - b.PartNumber);
    const end = { UploadId: await this.started, MultipartUpload: { Parts } };
    const command = new CompleteMultipartUploadCommand({ ...this.target, ...this.condition, ...end });
    await this.client.send(command, { abortSignal });
  }

  async discard(abortSignal: AbortSignal): Promise<void> {
    const UploadId = await this.started?.catch(() => undefined);
    if (UploadId === undefined) return;
    await this.client.send(new AbortMultipartUploadCommand({ ...this.target, UploadId }), { abortSignal });
  }

  /** Not ended by the upload's signal: an upload that the store began and we never heard of could not be removed. */
  private start(): Promise<string | undefined> {
    const { contentType: ContentType } = this.request;
    this.started ??= this.client
      .send(new CreateMultipartUploadCommand({ ...this.target, ContentType }), {
        abortSignal: AbortSignal.timeout(STRAY_UPLOAD_MS),
      })
      .then(({ UploadId }) => UploadId);
    return this.started;
  }
}

function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
