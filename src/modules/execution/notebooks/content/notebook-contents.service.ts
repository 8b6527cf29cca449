import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobStore } from '../../../../../libs/object-storage/blob-store';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { NotebookContentsRepository } from './notebook-contents.repository';

/** A text to be inserted into a row: the text itself, or its hash if it is in the blob store. */
export interface StagedText {
  sha256: string;
  bytes: number;
  /** Null if it is in the store. */
  inline: string | null;
  /** Key of the blob that was just written; null if the store had it already. */
  blobKey: string | null;
}

/** Larger than any notebook, including the escapes of JSON. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Texts of notebooks. Small ones are stored in their rows, large ones by hash in the blob store. */
@Injectable()
export class NotebookContentsService {
  constructor(
    private readonly repository: NotebookContentsRepository,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * Writes a text of more than `inlineBytes` into the store, unless it is there already. The transaction that inserts the row must
   * then {@link keep} it, else it is swept an hour later.
   */
  async stage(tenantId: string, text: string, inlineBytes: number, tx?: Tx): Promise<StagedText> {
    const bytes = Buffer.byteLength(text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    if (bytes <= inlineBytes) return { sha256, bytes, inline: text, blobKey: null };
    if (await this.repository.touch(tenantId, sha256, tx)) return { sha256, bytes, inline: null, blobKey: null };
    const { key } = await this.blobs.write(Readable.from([Buffer.from(text)]), MAX_BYTES, bytes);
    return { sha256, bytes, inline: null, blobKey: key };
  }

  async keep(tx: Tx, tenantId: string, { sha256, bytes, blobKey }: StagedText): Promise<void> {
    if (blobKey === null) return;
    await this.repository.add(tx, { tenant_id: tenantId, sha256, blob_key: blobKey, size_bytes: bytes });
  }

  async open(tenantId: string, sha256: string, tx?: Tx): Promise<Readable> {
    const key = await this.repository.blobKey(tenantId, sha256, tx);
    if (key === null) throw new Error('The blob store does not have a content of a notebook');
    return this.blobs.read(key);
  }

  async text(tenantId: string, sha256: string, tx?: Tx): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.open(tenantId, sha256, tx)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }
}
