import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceContext, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { asRefusal, conflict, type DomainError } from '../../../../platform/kernel/errors/domain-error';
import { type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import { type ConfigurationValues, NOTEBOOK, RunConfigurationsService } from '../../runs';
import { NotebookCellsService } from '../content/notebook-cells.service';
import { NotebookDocumentsService } from '../content/notebook-documents.service';
import { NotebookStagingService, type StagedNotebook } from '../content/notebook-staging.service';
import { type DocumentedNotebook, exportNotebookConf } from '../content/notebook-conf-documents';
import { WorkspaceFilesService } from '../../workspaces';

/** A valid notebook configuration of a document. The large texts of its notebook are already in the blob store. */
export interface ReadNotebookConf {
  conf: ConfigurationValues;
  staged: StagedNotebook;
}

/** Exports and imports notebook configurations with their notebooks. */
@Injectable()
export class DocumentedNotebooks {
  constructor(
    private readonly confs: RunConfigurationsService,
    private readonly documents: NotebookDocumentsService,
    private readonly cells: NotebookCellsService,
    private readonly staging: NotebookStagingService,
    private readonly files: WorkspaceFilesService,
  ) {}

  /** Yields the configurations as comma-separated JSON, so that only few outputs are in memory at a time. */
  async *jsonParts(scope: WorkspaceScope, enabled: boolean | undefined): AsyncGenerator<string> {
    let separator = '\n';
    for await (const confs of this.confs.all({ ...scope, kind: NOTEBOOK }, enabled)) {
      const paths = await this.documents.paths(confs.map(({ job_conf_id }) => job_conf_id));
      for (const conf of confs) {
        const path = paths.get(conf.job_conf_id);
        // The notebook was deleted meanwhile.
        if (path === undefined) continue;
        yield `${separator}${JSON.stringify(exportNotebookConf(conf, path)).slice(0, -1)},"notebook_cells":{"cells":[`;
        yield* this.cells.jsonParts(await this.documents.current(conf.job_conf_id), true);
        yield ']}}';
        separator = ',\n';
      }
    }
  }

  /** Writes the large texts of a notebook to the blob store. */
  async stage({ tenantId }: TenantScope, { conf, path, notebook }: DocumentedNotebook): Promise<ReadNotebookConf> {
    return { conf, staged: await this.staging.stage(tenantId, path, notebook) };
  }

  /**
   * Imports one configuration in a transaction that has locked the files of the workspace. Returns the keys of blobs to discard
   * after the commit, or the error if nothing of it was imported.
   */
  async import(
    tx: Tx,
    scope: WorkspaceScope,
    { conf, staged }: ReadNotebookConf,
    { clusterId, overwrite }: { clusterId: number; overwrite: boolean },
  ): Promise<{ unused: string[] } | { error: DomainError }> {
    try {
      // Uses a savepoint, so that a failure does not abort the import of the others.
      return await inTransaction(tx, async (inner) => {
        const [written] = await this.confs.import(inner, { ...scope, kind: NOTEBOOK }, clusterId, [conf], overwrite);
        if (!written) throw nameTaken(conf.name);
        const { job_conf_id: id } = written;
        const unused = overwrite
          ? await this.staging.replace(inner, scope, id, staged)
          : await this.staging.commit(inner, scope, id, staged);
        return { unused };
      });
    } catch (error) {
      return { error: asRefusal(error) };
    }
  }

  /** Must be the first step of every change of files of a workspace. */
  async lock(tx: Tx, workspace: WorkspaceContext): Promise<void> {
    await this.files.lock(tx, workspace);
  }

  async discard(confs: readonly ReadNotebookConf[]): Promise<void> {
    for (const { staged } of confs) await this.staging.discard(staged);
  }

  discardReplaced(blobKeys: readonly string[]): Promise<void> {
    return this.files.discard(blobKeys);
  }
}

function nameTaken(name: string): DomainError {
  return conflict(
    'RECORD.DUPLICATE_NAME',
    `The workspace has a notebook configuration "${name}" already. Send overwrite=true to replace it.`,
  );
}
