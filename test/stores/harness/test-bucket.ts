import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { CLOUD_PROVIDER_ID, CREDENTIAL_TYPE_ID } from '../../../src/modules/foundation/reference-data/reference-data';
import { serviceAccountKeys } from './emulated-clouds';
import type { BucketAccess } from './file-client';
import { newBucketName, storeServers } from './store-servers';

/** A bucket that tests access directly at the store. */
export interface TestBucket {
  /** The access that the platform uses. */
  readonly access: BucketAccess;
  readonly wrongSecret: { access: BucketAccess; secret: string };
  /** False if the store cannot check the signature of an address, and answers it with an error. */
  readonly servesAddresses: boolean;
  put(key: string, content?: string | Buffer): Promise<void>;
  remove(key: string): Promise<void>;
  /** Returns the sorted keys. */
  keys(): Promise<string[]>;
  /** Returns null if the store cannot list them. */
  unfinishedUploads(): Promise<string[]> | null;
  close(): void;
}

export class S3Bucket implements TestBucket {
  private readonly server = storeServers().s3;
  readonly servesAddresses = this.server.name === 'MinIO';
  private readonly name = newBucketName();
  private readonly client: S3Client;

  constructor() {
    const { url: endpoint, ...credentials } = this.server;
    this.client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  }

  static async make(): Promise<S3Bucket> {
    const bucket = new S3Bucket();
    await bucket.client.send(new CreateBucketCommand({ Bucket: bucket.name }));
    return bucket;
  }

  get endpoint(): string {
    return this.server.url;
  }

  get access(): BucketAccess {
    return this.accessBy({});
  }

  get wrongSecret() {
    const secret = 'a-secret-that-is-wrong';
    return { access: this.accessBy({ secret }), secret };
  }

  /** Returns an access through another endpoint or with another secret. */
  accessBy({ endpoint = this.endpoint, secret = this.server.secretAccessKey }): BucketAccess {
    return {
      cloudProviderId: CLOUD_PROVIDER_ID.OnPrem,
      credentialTypeId: CREDENTIAL_TYPE_ID.customS3,
      credentials: {
        AWS_ACCESS_KEY_ID: this.server.accessKeyId,
        AWS_SECRET_ACCESS_KEY: secret,
        S3_ENDPOINT: endpoint,
      },
      bucket: this.name,
    };
  }

  async put(key: string, content: string | Buffer = key): Promise<void> {
    await this.client.send(new PutObjectCommand({ Bucket: this.name, Key: key, Body: content }));
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.name, Key: key }));
  }

  async keys(): Promise<string[]> {
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command({ Bucket: this.name }));
    return Contents.map(({ Key = '' }) => Key).sort();
  }

  async unfinishedUploads(): Promise<string[]> {
    const { Uploads = [] } = await this.client.send(new ListMultipartUploadsCommand({ Bucket: this.name }));
    return Uploads.map(({ Key = '' }) => Key);
  }

  close(): void {
    this.client.destroy();
  }
}

/** A bucket of fake-gcs-server, which accepts all credentials; {@link GoogleSignIn} checks them. */
export class GcsBucket implements TestBucket {
  readonly servesAddresses = true;
  readonly access: BucketAccess;
  readonly wrongSecret: { access: BucketAccess; secret: string };
  private readonly name = newBucketName();
  private readonly url = storeServers().fakeGcs.url;

  constructor() {
    const access = (PRIVATE_KEY: string): BucketAccess => ({
      cloudProviderId: CLOUD_PROVIDER_ID.GCP,
      credentialTypeId: CREDENTIAL_TYPE_ID.googleServiceAccount,
      credentials: {
        TYPE: 'service_account',
        PROJECT_ID: 'project',
        PRIVATE_KEY_ID: 'key-1',
        PRIVATE_KEY,
        CLIENT_EMAIL: 'files@project.iam.gserviceaccount.com',
        CLIENT_ID: '1',
        AUTH_URI: 'https://accounts.google.com/o/oauth2/auth',
        TOKEN_URI: 'https://oauth2.googleapis.com/token',
        AUTH_PROVIDER_X509_CERT_URL: 'https://www.googleapis.com/oauth2/v1/certs',
        CLIENT_X509_CERT_URL: 'https://www.googleapis.com/robot/v1/metadata/x509/files',
      },
      bucket: this.name,
    });
    const { known, unknown } = serviceAccountKeys();
    this.access = access(known);
    this.wrongSecret = { access: access(unknown), secret: unknown };
  }

  static async make(): Promise<GcsBucket> {
    const bucket = new GcsBucket();
    const body = JSON.stringify({ name: bucket.name });
    await bucket.call('POST', '/storage/v1/b?project=test', { body, type: 'application/json' });
    return bucket;
  }

  async put(key: string, content: string | Buffer = key): Promise<void> {
    const path = `/upload/storage/v1/b/${this.name}/o?uploadType=media&name=${encodeURIComponent(key)}`;
    await this.call('POST', path, { body: content, type: 'text/plain' });
  }

  async remove(key: string): Promise<void> {
    await this.call('DELETE', `/storage/v1/b/${this.name}/o/${encodeURIComponent(key)}`);
  }

  async keys(): Promise<string[]> {
    const answer = await this.call('GET', `/storage/v1/b/${this.name}/o`);
    const { items = [] } = (await answer.json()) as { items?: { name: string }[] };
    return items.map(({ name }) => name).sort();
  }

  unfinishedUploads(): null {
    return null;
  }

  close(): void {}

  private async call(method: string, path: string, sent?: { body: string | Buffer; type: string }): Promise<Response> {
    const headers = sent && { 'content-type': sent.type };
    const answer = await fetch(`${this.url}${path}`, { method, headers, body: sent?.body as RequestInit['body'] });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
    return answer;
  }
}

/** A container of azurite, which has no service principals: the account's key stands in for the secret of one. */
export class AzureContainer implements TestBucket {
  readonly servesAddresses = true;
  readonly access: BucketAccess;
  readonly wrongSecret: { access: BucketAccess; secret: string };
  private readonly client: ContainerClient;

  constructor() {
    const { url, accountName, accountKey } = storeServers().azurite;
    const name = newBucketName();
    this.client = new ContainerClient(`${url}/${name}`, new StorageSharedKeyCredential(accountName, accountKey));
    const access = (CLIENT_SECRET: string): BucketAccess => ({
      cloudProviderId: CLOUD_PROVIDER_ID.Azure,
      credentialTypeId: CREDENTIAL_TYPE_ID.azureServicePrincipal,
      credentials: {
        CLIENT_ID: 'client',
        TENANT_ID: 'directory',
        CLIENT_SECRET,
        SUBSCRIPTION_ID: 'subscription',
        STORAGE_ACCOUNT_NAME: accountName,
        CONTAINER_NAME: name,
      },
      bucket: name,
    });
    const secret = Buffer.from('a-secret-that-is-wrong').toString('base64');
    this.access = access(accountKey);
    this.wrongSecret = { access: access(secret), secret };
  }

  static async make(): Promise<AzureContainer> {
    const container = new AzureContainer();
    await container.client.create();
    return container;
  }

  async put(key: string, content: string | Buffer = key): Promise<void> {
    await this.client.getBlockBlobClient(key).upload(content, Buffer.byteLength(content));
  }

  async remove(key: string): Promise<void> {
    await this.client.deleteBlob(key);
  }

  async keys(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of this.client.listBlobsFlat()) names.push(name);
    return names.sort();
  }

  unfinishedUploads(): null {
    return null;
  }

  close(): void {}
}
