import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  firstRow,
  insertRow,
  literalPattern,
  rows,
  type Db,
  type Tx,
  updateRows,
  type Values,
} from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { WorkspaceFileRow } from '../../workspaces';
import { NotebookDocumentRow } from './entities/notebook-document.entity';
import { NotebookRevision } from './entities/notebook-revision.entity';

/** Number of revisions that are kept although no run references them. */
const MAX_UNREFERENCED_REVISIONS = 20;
/** Bounds the work of one change. */
const MAX_PRUNED_AT_ONCE = 50;

export type RevisionText = Pick<NotebookRevision, 'notebook_revision_id' | 'tenant_id' | 'sha256' | 'document'>;

/** The notebook of a configuration and its current revision. */
export type CurrentNotebook = Pick<NotebookDocumentRow, 'job_conf_id' | 'workspace_file_id'> & RevisionText;

const CURRENT = `SELECT d.job_conf_id, d.workspace_file_id, r.notebook_revision_id, r.tenant_id, r.sha256, r.document
  FROM notebook_documents d JOIN notebook_revisions r ON r.notebook_revision_id = d.notebook_revision_id`;

@Injectable()
export class NotebookDocumentsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async current(notebookConfId: number, db: Db = this.dataSource.manager): Promise<CurrentNotebook | null> {
    return firstRow<CurrentNotebook>(db, `${CURRENT} WHERE d.job_conf_id = $1`, [notebookConfId]);
  }

  async ofFile(workspaceFileId: number, db: Db = this.dataSource.manager): Promise<CurrentNotebook | null> {
    return firstRow<CurrentNotebook>(db, `${CURRENT} WHERE d.workspace_file_id = $1`, [workspaceFileId]);
  }

  /** Returns the current revision and protects it from pruning; null if there is no such notebook. */
  async keepCurrent(tx: Tx, notebookConfId: number): Promise<number | null> {
    // A separate statement: one that waits for a lock does not see the revision that was committed meanwhile.
    await tx.query('SELECT 1 FROM notebook_documents WHERE job_conf_id = $1 FOR SHARE', [notebookConfId]);
    const found = await firstRow<Pick<NotebookRevision, 'notebook_revision_id' | 'is_kept'>>(
      tx,
      `SELECT r.notebook_revision_id, r.is_kept FROM notebook_documents d
       JOIN notebook_revisions r ON r.notebook_revision_id = d.notebook_revision_id WHERE d.job_conf_id = $1`,
      [notebookConfId],
    );
    if (!found) return null;
    const { notebook_revision_id, is_kept } = found;
    if (!is_kept) await updateRows(tx, NotebookRevision, { is_kept: true }, { notebook_revision_id });
    return notebook_revision_id;
  }

  async revision(tenantId: string, revisionId: number): Promise<RevisionText | null> {
    return firstRow<RevisionText>(
      this.dataSource.manager,
      `SELECT t.notebook_revision_id, t.tenant_id, t.sha256, t.document FROM notebook_revisions t
       WHERE ${ofTenant('t', '$1')} AND t.notebook_revision_id = $2`,
      [tenantId, revisionId],
    );
  }

  async insertRevision(tx: Tx, revision: Values<NotebookRevision>): Promise<number> {
    return (await insertRow(tx, NotebookRevision, revision)).notebook_revision_id;
  }

  async insert(tx: Tx, document: Values<NotebookDocumentRow>): Promise<void> {
    await insertRow(tx, NotebookDocumentRow, document);
  }

  async setCurrent(tx: Tx, notebookConfId: number, revisionId: number): Promise<void> {
    const change = { notebook_revision_id: revisionId };
    await updateRows(tx, NotebookDocumentRow, change, { job_conf_id: notebookConfId });
  }

  /** Replaces the cells of the notebook. Remaining cells keep their outputs, unless their type has changed. */
  async setCells(tx: Tx, notebookConfId: number, cells: readonly { id: string; cell_type: string }[]): Promise<void> {
    const params = [notebookConfId, cells.map(({ id }) => id), cells.map(({ cell_type }) => cell_type)];
    await tx.query(
      `WITH given AS (SELECT * FROM unnest($2::text[], $3::text[]) AS given (cell_uuid, cell_type)),
       gone AS (
         DELETE FROM notebook_cells c WHERE c.job_conf_id = $1 AND NOT EXISTS (
           SELECT 1 FROM given g WHERE g.cell_uuid = c.cell_uuid AND g.cell_type = c.cell_type)
         RETURNING c.cell_uuid, c.bytes),
       outputs AS (
         DELETE FROM notebook_outputs o USING gone WHERE o.job_conf_id = $1 AND o.cell_uuid = gone.cell_uuid)
       UPDATE notebook_documents SET output_bytes = output_bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)
       WHERE job_conf_id = $1`,
      params,
    );
    await tx.query(
      `INSERT INTO notebook_cells (job_conf_id, cell_uuid, cell_type)
       SELECT $1, cell_uuid, cell_type FROM unnest($2::text[], $3::text[]) AS given (cell_uuid, cell_type)
       ON CONFLICT (job_conf_id, cell_uuid) DO NOTHING`,
      params,
    );
  }

  async prune(tx: Tx, notebookConfId: number, keep = MAX_UNREFERENCED_REVISIONS): Promise<void> {
    await tx.query(
      `DELETE FROM notebook_revisions WHERE notebook_revision_id IN (
         SELECT notebook_revision_id FROM notebook_revisions WHERE job_conf_id = $1 AND NOT is_kept
         ORDER BY notebook_revision_id DESC OFFSET $2 LIMIT ${MAX_PRUNED_AT_ONCE})`,
      [notebookConfId, keep],
    );
  }

  /** Removes a notebook, but keeps the revisions that runs reference. */
  async delete(tx: Tx, notebookConfId: number): Promise<void> {
    for (const table of ['notebook_outputs', 'notebook_cells', 'notebook_documents']) {
      await tx.query(`DELETE FROM ${table} WHERE job_conf_id = $1`, [notebookConfId]);
    }
    await this.prune(tx, notebookConfId, 0);
  }

  /** Returns the paths of the notebooks' files by configuration id. */
  async paths(notebookConfIds: readonly number[], db: Db = this.dataSource.manager): Promise<Map<number, string>> {
    const found = await rows<{ job_conf_id: number; path: string }>(
      db,
      `SELECT d.job_conf_id, f.path FROM notebook_documents d
       JOIN workspace_files f ON f.workspace_file_id = d.workspace_file_id WHERE d.job_conf_id = ANY($1)`,
      [notebookConfIds],
    );
    return new Map(found.map(({ job_conf_id, path }) => [job_conf_id, path]));
  }

  /** Returns a notebook whose file is this one or is in this directory. */
  async below(
    tx: Tx,
    { workspace_id, workspace_file_id, is_dir, path }: WorkspaceFileRow,
  ): Promise<(Pick<NotebookDocumentRow, 'job_conf_id'> & { name: string; path: string }) | null> {
    const tree = is_dir
      ? `f.workspace_id = $1 AND f.to_date = 'infinity' AND f.path LIKE $2`
      : 'f.workspace_id = $1 AND f.workspace_file_id = $2';
    return firstRow(
      tx,
      `SELECT d.job_conf_id, c.name, f.path FROM workspace_files f
       JOIN notebook_documents d ON d.workspace_file_id = f.workspace_file_id
       JOIN job_confs c ON c.job_conf_id = d.job_conf_id
       WHERE ${tree} LIMIT 1`,
      [workspace_id, is_dir ? `${literalPattern(path)}/%` : workspace_file_id],
    );
  }
}
