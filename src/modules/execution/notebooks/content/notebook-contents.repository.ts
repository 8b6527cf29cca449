import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, returning, rows, type Db, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { BlobUse } from '../../workspaces';
import type { NotebookContent } from './entities/notebook-content.entity';

/** Stores which large texts of notebooks are in the blob store, by tenant and hash. */
@Injectable()
export class NotebookContentsRepository extends BlobUse {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  /** Returns true if the tenant has the content, and protects it from the sweeper for another hour. */
  async touch(tenantId: string, sha256: string, db: Db = this.dataSource.manager): Promise<boolean> {
    const touched = await returning(
      db,
      `UPDATE notebook_contents t SET used_at = platform_now() WHERE ${ofTenant('t', '$1')} AND t.sha256 = $2 RETURNING t.sha256`,
      [tenantId, sha256],
    );
    return touched.length > 0;
  }

  /** Adds a content, unless a concurrent writer has added it. */
  async add(tx: Tx, content: Omit<NotebookContent, 'used_at'>): Promise<void> {
    await tx.query(
      `INSERT INTO notebook_contents (tenant_id, sha256, blob_key, size_bytes) VALUES ($1, $2, $3, $4)
       ON CONFLICT (tenant_id, sha256) DO UPDATE SET used_at = platform_now()`,
      [content.tenant_id, content.sha256, content.blob_key, content.size_bytes],
    );
  }

  async blobKey(tenantId: string, sha256: string, db: Db = this.dataSource.manager): Promise<string | null> {
    const found = await firstRow<Pick<NotebookContent, 'blob_key'>>(
      db,
      `SELECT t.blob_key FROM notebook_contents t WHERE ${ofTenant('t', '$1')} AND t.sha256 = $2`,
      [tenantId, sha256],
    );
    return found?.blob_key ?? null;
  }

  async keysInUse(keys: readonly string[]): Promise<Set<string>> {
    const used = await rows<Pick<NotebookContent, 'blob_key'>>(
      this.dataSource.manager,
      'SELECT blob_key FROM notebook_contents WHERE blob_key = ANY($1)',
      [keys],
    );
    return new Set(used.map((row) => row.blob_key));
  }

  /**
   * Removes unreferenced contents that have not been used for `minutes`; the next sweep of the blob store deletes their bytes. Returns
   * the number of contents examined, at most `limit`, and when the last one was used, which is where the next call continues.
   */
  async removeUnused(
    tx: Tx,
    { minutes, limit, after }: { minutes: number; limit: number; after: Date | null },
  ): Promise<{ seen: number; last: Date | null }> {
    const done = await firstRow<{ seen: number; last: Date | null }>(
      tx,
      `WITH old AS (
         SELECT tenant_id, sha256, used_at FROM notebook_contents
         WHERE used_at < platform_now() - $1 * interval '1 minute' AND ($3::timestamptz IS NULL OR used_at > $3)
         ORDER BY used_at LIMIT $2 FOR UPDATE SKIP LOCKED),
       gone AS (
         DELETE FROM notebook_contents c USING old
         WHERE (c.tenant_id, c.sha256) = (old.tenant_id, old.sha256)
           AND NOT EXISTS (SELECT 1 FROM notebook_outputs o WHERE o.sha256 = old.sha256)
           AND NOT EXISTS (SELECT 1 FROM notebook_revisions r
             WHERE (r.tenant_id, r.sha256) = (old.tenant_id, old.sha256) AND r.document IS NULL))
       SELECT count(*) AS seen, max(used_at) AS last FROM old`,
      [minutes, limit, after],
    );
    return done ?? { seen: 0, last: null };
  }
}
