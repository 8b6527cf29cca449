import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { BucketAccess } from './file-client';
import { newBucketName, storeServers } from './store-servers';

/** A bucket of MinIO, seen from the store's own side. */
export class MinioBucket {
  readonly access: BucketAccess;
  private readonly client: S3Client;

  constructor() {
    const { url: endpoint, ...credentials } = storeServers().minio;
    this.access = { endpoint, ...credentials, bucket: newBucketName() };
    this.client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  }

  static async make(): Promise<MinioBucket> {
    const bucket = new MinioBucket();
    await bucket.client.send(new CreateBucketCommand({ Bucket: bucket.access.bucket }));
    return bucket;
  }

  async put(key: string, content: string | Buffer = key): Promise<void> {
    await this.client.send(new PutObjectCommand({ Bucket: this.access.bucket, Key: key, Body: content }));
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.access.bucket, Key: key }));
  }

  async keys(): Promise<string[]> {
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command({ Bucket: this.access.bucket }));
    return Contents.map(({ Key = '' }) => Key);
  }

  async unfinishedUploads(): Promise<string[]> {
    const { Uploads = [] } = await this.client.send(new ListMultipartUploadsCommand({ Bucket: this.access.bucket }));
    return Uploads.map(({ Key = '' }) => Key);
  }

  close(): void {
    this.client.destroy();
  }
}
