import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceContext, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { asRefusal, conflict, type DomainError } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { type ConfigurationValues, NOTEBOOK, RunConfigurationsService } from '../../runs';
import { NotebookCellsService } from '../content/notebook-cells.service';
import { NotebookDocumentsService } from '../content/notebook-documents.service';
import { NotebookStagingService, type StagedNotebook } from '../content/notebook-staging.service';
import { type DocumentedNotebook, exportNotebookConf } from '../content/notebook-conf-documents';
import { WorkspaceFilesService } from '../../workspaces';

/** A notebook configuration of a document that may be imported, with its notebook in the store. */
export interface ReadNotebookConf {
  conf: ConfigurationValues;
  staged: StagedNotebook;
}

/** Notebook configurations and their notebooks in documents of workspaces. */
@Injectable()
export class DocumentedNotebooks {
  constructor(
    private readonly confs: RunConfigurationsService,
    private readonly documents: NotebookDocumentsService,
    private readonly cells: NotebookCellsService,
    private readonly staging: NotebookStagingService,
    private readonly files: WorkspaceFilesService,
  ) {}

  /** As JSON objects with commas between; of a notebook few outputs are in memory at once. */
  async *written(place: WorkspaceScope, enabled: boolean | undefined): AsyncGenerator<string> {
    let separator = '\n';
    for await (const confs of this.confs.all({ ...place, kind: NOTEBOOK }, enabled)) {
      const paths = await this.documents.paths(confs.map(({ job_conf_id }) => job_conf_id));
      for (const conf of confs) {
        const path = paths.get(conf.job_conf_id);
        // Deleted meanwhile.
        if (path === undefined) continue;
        yield `${separator}${JSON.stringify(exportNotebookConf(conf, path)).slice(0, -1)},"notebook_cells":{"cells":[`;
        yield* this.cells.written(conf.job_conf_id);
        yield ']}}';
        separator = ',\n';
      }
    }
  }

  /** What is large of a notebook is in the store when this returns. */
  async stage({ tenantId }: TenantScope, { conf, path, notebook }: DocumentedNotebook): Promise<ReadNotebookConf> {
    return { conf, staged: await this.staging.stage(tenantId, path, notebook) };
  }

  /**
   * Imports one in a transaction that has locked the files of the workspace. Answers what of the store to discard after
   * it, or why it was not imported: then nothing of it is.
   */
  async import(
    tx: Tx,
    scope: WorkspaceScope,
    { conf, staged }: ReadNotebookConf,
    { clusterId, overwrite }: { clusterId: number; overwrite: boolean },
  ): Promise<{ unused: string[] } | { error: DomainError }> {
    try {
      // Within a savepoint, so that others go on.
      return await tx.transaction(async (inner) => {
        const [written] = await this.confs.import(inner, { ...scope, kind: NOTEBOOK }, clusterId, [conf], overwrite);
        if (!written) throw taken(conf.name);
        const { job_conf_id: id } = written;
        const unused = overwrite
          ? await this.staging.replace(inner, scope, id, staged)
          : await this.staging.begin(inner, scope, id, staged);
        return { unused };
      });
    } catch (error) {
      return { error: asRefusal(error) };
    }
  }

  /** Everything that changes files of a workspace begins with this. */
  async lock(tx: Tx, workspace: WorkspaceContext): Promise<void> {
    await this.files.lock(tx, workspace);
  }

  /** Removes bytes that became no file after all. */
  async discard(confs: readonly ReadNotebookConf[]): Promise<void> {
    for (const { staged } of confs) await this.staging.discard(staged);
  }

  discardReplaced(blobKeys: readonly string[]): Promise<void> {
    return this.files.discard(blobKeys);
  }
}

function taken(name: string): DomainError {
  return conflict(
    'RECORD.DUPLICATE_NAME',
    `The workspace has a notebook configuration "${name}" already. Send overwrite=true to replace it.`,
  );
}
