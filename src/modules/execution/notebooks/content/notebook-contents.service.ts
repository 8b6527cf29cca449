import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobStore } from '../../../../../libs/object-storage/blob-store';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { NotebookContentsRepository } from './notebook-contents.repository';

/** A text on its way into a row: itself, or in the store under its hash. */
export interface StagedText {
  sha256: string;
  bytes: number;
  /** Null if it lies in the store. */
  inline: string | null;
  /** Of what was just written there; null if it is there already. */
  blobKey: string | null;
}

/** Larger than any notebook with what JSON adds to its texts. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Texts of notebooks: small ones lie in their rows, large ones by hash in the store of files. */
@Injectable()
export class NotebookContentsService {
  constructor(
    private readonly repository: NotebookContentsRepository,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * Writes a text of more than so many bytes into the store unless it is there: before the row that refers to it, whose
   * transaction {@link keep}s it. One that is not kept is swept an hour later.
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
    if (key === null) throw new Error('A content of a notebook is not in the store');
    return this.blobs.read(key);
  }

  async text(tenantId: string, sha256: string, tx?: Tx): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.open(tenantId, sha256, tx)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }
}
