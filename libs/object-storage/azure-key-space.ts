import { randomUUID } from 'node:crypto';
import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { ClientSecretCredential } from '@azure/identity';
import {
  AnonymousCredential,
  type BlobItem,
  type BlobPrefix,
  BlobSASPermissions,
  BlobServiceClient,
  type BlockBlobClient,
  ContainerClient,
  generateBlobSASQueryParameters,
  newPipeline,
  type RequestPolicyFactory,
  RestError,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import type { OutboundAgents } from '../outbound-policy/outbound-policy';
import type { KeyInfo, KeyListRequest, KeyPage, KeySpace, KeyUpload, KeyUploadRequest } from './key-space';
import type { AddressOptions, ObjectStoreError } from './object-store';
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
  /** Texts that must not appear in messages. */
  secrets: readonly string[];
}

/** Marks an empty blob as a directory: Azure's own tools write it, and hierarchical namespaces return it. */
const DIRECTORY_METADATA = 'hdi_isfolder';

/**
 * Azure Blob Storage, and ADLS Gen2 through its Blob endpoint. Uncommitted blocks of a failed upload are invisible; no
 * request removes them, but Azure does within a week.
 */
export class AzureKeySpace implements KeySpace {
  readonly maxParts = 50_000;
  readonly parallelParts = 3;
  private readonly container: ContainerClient;
  private readonly service: BlobServiceClient;
  private readonly credential: AzureLocation['credential'];
  private readonly secrets: readonly string[];

  constructor({ endpoint, container, credential, sas, secrets }: AzureLocation, agents: OutboundAgents) {
    this.secrets = secrets;
    this.credential = credential;
    const pipeline = newPipeline(credential, { retryOptions: { maxTries: 3, maxRetryDelayInMs: 4_000 } });
    pipeline.factories.unshift(useAgent(endpoint.startsWith('https:') ? agents.https : agents.http));
    const query = sas === undefined ? '' : `?${sas}`;
    this.container = new ContainerClient(`${endpoint}/${encodeURIComponent(container)}${query}`, pipeline);
    this.service = new BlobServiceClient(endpoint, pipeline);
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
      const response = await this.container.getBlobClient(key).getProperties({ abortSignal });
      return {
        key,
        sizeBytes: response.contentLength ?? 0,
        lastModified: response.lastModified ?? null,
        contentType: response.contentType ?? null,
        isDirectory: isDirectory(response.metadata),
      };
    } catch (error) {
      if (error instanceof RestError && error.statusCode === 404) return null;
      throw error;
    }
  }

  async open(key: string, range: { start: number; end?: number } | null, abortSignal: AbortSignal) {
    const count = range?.end === undefined ? undefined : range.end - range.start + 1;
    const response = await this.container.getBlobClient(key).download(range?.start ?? 0, count, {
      abortSignal,
      maxRetryRequests: 3,
    });
    const lengthBytes = response.contentLength ?? 0;
    const info = {
      key,
      sizeBytes: Number(/\/(\d+)$/.exec(response.contentRange ?? '')?.[1] ?? lengthBytes),
      lastModified: response.lastModified ?? null,
      contentType: response.contentType ?? null,
      isDirectory: isDirectory(response.metadata),
    };
    return { info, lengthBytes, stream: response.readableStreamBody as Readable };
  }

  async address(
    key: string,
    { contentDisposition, contentType, validSeconds }: AddressOptions,
    abortSignal: AbortSignal,
  ): Promise<string | null> {
    // A shared access signature cannot sign a narrower one, and must not be passed on itself.
    if (this.credential instanceof AnonymousCredential) return null;
    const expiresOn = new Date(Date.now() + validSeconds * 1_000);
    const values = {
      containerName: this.container.containerName,
      blobName: key,
      permissions: BlobSASPermissions.parse('r'),
      expiresOn,
      contentDisposition,
      contentType,
    };
    const query =
      this.credential instanceof StorageSharedKeyCredential
        ? generateBlobSASQueryParameters(values, this.credential)
        : generateBlobSASQueryParameters(
            values,
            await this.service.getUserDelegationKey(new Date(), expiresOn, { abortSignal }),
            this.service.accountName,
          );
    return `${this.container.getBlobClient(key).url}?${query.toString()}`;
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
    // A failed sign-in, or a wrong signature, for which the emulator returns the code of a missing permission.
    const isRejected = errorField(error, 'name') === 'AuthenticationError' || /failed to authenticate/i.test(reason);
    const status = error instanceof RestError ? error.statusCode : undefined;
    const failure = { status, code: isRejected ? 'AuthenticationFailed' : code, reason };
    return storeFault(failure, this.secrets, error);
  }
}

class AzureUpload implements KeyUpload {
  /** Keeps the blocks of concurrent uploads to one blob apart. */
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
      ...(request.isDirectory ? { metadata: { [DIRECTORY_METADATA]: 'true' } } : {}),
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
    // Uncommitted blocks cannot be removed: see AzureKeySpace.
  }
}

/** Locates a container of the account that is opened with a shared access signature. */
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

/** Locates a container of the account that is opened by a service principal. */
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

function useAgent(agent: Agent): RequestPolicyFactory {
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
  return metadata?.[DIRECTORY_METADATA] === 'true';
}
