import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, returning, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { BlobUse } from '../../workspaces';
import type { NotebookContent } from './entities/notebook-content.entity';

/** Large texts of notebooks, by tenant and hash. */
@Injectable()
export class NotebookContentsRepository extends BlobUse {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  /** Whether the tenant has the content, which then stays for another hour at least. */
  async touch(tenantId: string, sha256: string, tx: Tx = this.dataSource.manager): Promise<boolean> {
    const touched = await returning(
      tx,
      `UPDATE notebook_contents t SET used_at = platform_now() WHERE ${ofTenant('t', '$1')} AND t.sha256 = $2 RETURNING t.sha256`,
      [tenantId, sha256],
    );
    return touched.length > 0;
  }

  /** Adds a content unless somebody else was first. */
  async add(tx: Tx, content: Omit<NotebookContent, 'used_at'>): Promise<void> {
    await tx.query(
      `INSERT INTO notebook_contents (tenant_id, sha256, blob_key, size_bytes) VALUES ($1, $2, $3, $4)
       ON CONFLICT (tenant_id, sha256) DO UPDATE SET used_at = platform_now()`,
      [content.tenant_id, content.sha256, content.blob_key, content.size_bytes],
    );
  }

  async blobKey(tenantId: string, sha256: string, tx: Tx = this.dataSource.manager): Promise<string | null> {
    const found = await firstRow<Pick<NotebookContent, 'blob_key'>>(
      tx,
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
   * Removes contents that nobody refers to and nobody was about to for so long; their bytes go with the next sweep of the
   * store. Answers at how many it looked, at most `limit`, and when the last of them was used, to go on behind.
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
