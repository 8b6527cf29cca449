import { randomUUID } from 'node:crypto';
import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { ClientSecretCredential } from '@azure/identity';
import {
  AnonymousCredential,
  type BlobItem,
  type BlobPrefix,
  type BlockBlobClient,
  ContainerClient,
  newPipeline,
  type RequestPolicyFactory,
  RestError,
  type StorageSharedKeyCredential,
} from '@azure/storage-blob';
import type { OutboundAgents } from '../outbound-policy/outbound-policy';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import type { ObjectStoreError } from './object-store';
import { deleteInParallel } from './parallel-deletes';
import type { Part } from './part-upload';
import { errorField, storeFault } from './store-fault';

interface BlobPage {
  segment: { blobItems: BlobItem[]; blobPrefixes?: BlobPrefix[] };
  continuationToken?: string;
}

export interface AzureLocation {
  /** The Blob endpoint of a storage account: `https://<account>.blob.core.windows.net`. */
  endpoint: string;
  container: string;
  credential: ClientSecretCredential | StorageSharedKeyCredential | AnonymousCredential;
  /** A shared access signature, which becomes the query of each URL. */
  sas?: string;
  /** What must not appear in messages. */
  secrets: readonly string[];
}

/** Says of an empty blob that it is a directory; what Azure's own tools write and hierarchical namespaces answer. */
const DIRECTORY_MARK = 'hdi_isfolder';

/**
 * Azure Blob Storage, and ADLS Gen2 through its Blob endpoint. Uncommitted blocks of an upload that failed are invisible;
 * no request removes them, and Azure does within a week.
 */
export class AzureKeySpace implements KeySpace {
  readonly maxParts = 50_000;
  readonly parallelParts = 3;
  private readonly container: ContainerClient;
  private readonly secrets: readonly string[];

  constructor({ endpoint, container, credential, sas, secrets }: AzureLocation, agents: OutboundAgents) {
    this.secrets = secrets;
    const pipeline = newPipeline(credential, { retryOptions: { maxTries: 3, maxRetryDelayInMs: 4_000 } });
    pipeline.factories.unshift(callsThrough(endpoint.startsWith('https:') ? agents.https : agents.http));
    const query = sas === undefined ? '' : `?${sas}`;
    this.container = new ContainerClient(`${endpoint}/${encodeURIComponent(container)}${query}`, pipeline);
  }

  async list({ prefix, delimited, token, limit }: KeyListRequest, abortSignal: AbortSignal): Promise<KeyPage> {
    const options = { prefix, includeMetadata: true, abortSignal };
    const page = { maxPageSize: limit, continuationToken: token ?? undefined };
    const pages: AsyncIterableIterator<BlobPage> = delimited
      ? this.container.listBlobsByHierarchy('/', options).byPage(page)
      : this.container.listBlobsFlat(options).byPage(page);
    const { value } = (await pages.next()) as IteratorResult<BlobPage, undefined>;
    if (!value) return { objects: [], prefixes: [], nextToken: null };
    const { segment, continuationToken } = value;
    return {
      objects: segment.blobItems.map(({ name, properties, metadata }) => ({
        key: name,
        sizeBytes: properties.contentLength ?? 0,
        lastModified: properties.lastModified,
        contentType: properties.contentType ?? null,
        isDirectory: isDirectory(metadata),
      })),
      prefixes: (segment.blobPrefixes ?? []).map(({ name }) => name),
      nextToken: continuationToken ? continuationToken : null,
    };
  }

  async head(key: string, abortSignal: AbortSignal): Promise<KeyInfo | null> {
    try {
      const answer = await this.container.getBlobClient(key).getProperties({ abortSignal });
      return {
        key,
        sizeBytes: answer.contentLength ?? 0,
        lastModified: answer.lastModified ?? null,
        contentType: answer.contentType ?? null,
        isDirectory: isDirectory(answer.metadata),
      };
    } catch (error) {
      if (error instanceof RestError && error.statusCode === 404) return null;
      throw error;
    }
  }

  async open(key: string, range: { start: number; end?: number } | null, abortSignal: AbortSignal) {
    const count = range?.end === undefined ? undefined : range.end - range.start + 1;
    const answer = await this.container.getBlobClient(key).download(range?.start ?? 0, count, {
      abortSignal,
      maxRetryRequests: 3,
    });
    const lengthBytes = answer.contentLength ?? 0;
    const info = {
      key,
      sizeBytes: Number(/\/(\d+)$/.exec(answer.contentRange ?? '')?.[1] ?? lengthBytes),
      lastModified: answer.lastModified ?? null,
      contentType: answer.contentType ?? null,
      isDirectory: isDirectory(answer.metadata),
    };
    return { info, lengthBytes, stream: answer.readableStreamBody as Readable };
  }

  upload(request: KeyUploadRequest): KeyUpload {
    return new AzureUpload(this.container.getBlockBlobClient(request.key), request);
  }

  async delete(keys: string[], abortSignal: AbortSignal): Promise<void> {
    await deleteInParallel(keys, (key) =>
      this.container.getBlobClient(key).deleteIfExists({ deleteSnapshots: 'include', abortSignal }),
    );
  }

  fault(error: unknown): ObjectStoreError {
    const details = error instanceof RestError ? (error.details as { errorCode?: string } | undefined) : undefined;
    const code = details?.errorCode ?? errorField(error, 'code') ?? errorField(error, 'name');
    const reason = errorField(error, 'message') ?? '';
    // The error of the sign-in, and that of a signature, which the emulator gives the code of a missing permission.
    const isRejected = errorField(error, 'name') === 'AuthenticationError' || /failed to authenticate/i.test(reason);
    const status = error instanceof RestError ? error.statusCode : undefined;
    const failure = { status, code: isRejected ? 'AuthenticationFailed' : code, reason };
    return storeFault(failure, this.secrets, error);
  }
}

class AzureUpload implements KeyUpload {
  /** Blocks of two uploads to one blob must not pass for each other. */
  private readonly id = randomUUID();
  private readonly blocks: string[] = [];
  private readonly options: {
    blobHTTPHeaders: { blobContentType: string };
    conditions: { ifNoneMatch?: string };
    metadata?: Record<string, string>;
  };

  constructor(
    private readonly blob: BlockBlobClient,
    request: KeyUploadRequest,
  ) {
    this.options = {
      blobHTTPHeaders: { blobContentType: request.contentType },
      conditions: request.overwrite ? {} : { ifNoneMatch: '*' },
      ...(request.isDirectory ? { metadata: { [DIRECTORY_MARK]: 'true' } } : {}),
    };
  }

  async send({ number, data, isLast }: Part, abortSignal: AbortSignal): Promise<void> {
    if (number === 1 && isLast) {
      await this.blob.upload(data, data.length, { ...this.options, abortSignal });
      return;
    }
    const id = Buffer.from(`${this.id}-${String(number).padStart(6, '0')}`).toString('base64');
    this.blocks[number - 1] = id;
    await this.blob.stageBlock(id, data, data.length, { abortSignal });
  }

  async finish(abortSignal: AbortSignal): Promise<void> {
    if (this.blocks.length > 0) await this.blob.commitBlockList(this.blocks, { ...this.options, abortSignal });
  }

  async discard(): Promise<void> {
    // Blocks that were not committed cannot be removed: see the class above.
  }
}

/** A container of the account, opened with a shared access signature. */
export function azureSasLocation(keys: { accountName: string; container: string; sas: string }): AzureLocation {
  const { accountName, container, sas } = keys;
  const signature = new URLSearchParams(sas).get('sig') ?? '';
  return {
    endpoint: endpointOf(accountName),
    container,
    credential: new AnonymousCredential(),
    sas,
    secrets: [sas, signature, encodeURIComponent(signature)],
  };
}

/** The endpoint of the account and the sign-in of its service principal. */
export function azureLocation(keys: {
  accountName: string;
  container: string;
  tenantId: string;
  clientId: string;
  clientSecret: string;
}): AzureLocation {
  return {
    endpoint: endpointOf(keys.accountName),
    container: keys.container,
    credential: new ClientSecretCredential(keys.tenantId, keys.clientId, keys.clientSecret, {
      retryOptions: { maxRetries: 2 },
    }),
    secrets: [keys.clientSecret],
  };
}

function endpointOf(accountName: string): string {
  return `https://${accountName}.blob.core.windows.net`;
}

function callsThrough(agent: Agent): RequestPolicyFactory {
  return {
    create: (next) => ({
      sendRequest: (request) => {
        request.agent = agent;
        return next.sendRequest(request);
      },
    }),
  };
}

function isDirectory(metadata: Record<string, string> | undefined): boolean {
  return metadata?.[DIRECTORY_MARK] === 'true';
}
