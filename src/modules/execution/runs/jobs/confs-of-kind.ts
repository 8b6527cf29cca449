import { Injectable } from '@nestjs/common';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../../platform/kernel/errors/domain-error';
import { type Message, openEnded } from '../../../../platform/kernel/dto/answers';
import { assertChanges } from '../../../../platform/http/changes';
import type { Page } from '../../../../platform/kernel/dto/page';
import { describeSelector, type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { checkConf, ClusterSlotsService, type Configures } from '../../clusters';
import { DependencyRepositoriesService, type NamesDependencies } from '../../../infrastructure/storage';
import { ClusterWorkspacesService, WorkspacesService } from '../../workspaces';
import { type JobSettings, settingsOf } from './dto/job-conf.dto';
import type { JobConf } from './entities/job-conf.entity';
import { assertArchiveFolder, assertInWorkspace, assertOneFile } from './file-reference';
import type { ConfsRepository, JobConfRow } from './job-confs.repository';
import { filesNamed } from './run-spec';

/** What configurations of every kind are made and changed with. */
@Injectable()
export class ConfParts {
  constructor(
    readonly transactions: Transactions,
    readonly workspaces: WorkspacesService,
    readonly clusters: ClusterSlotsService,
    readonly clusterWorkspaces: ClusterWorkspacesService,
    readonly dependencies: DependencyRepositoriesService,
  ) {}
}

/** What a list is asked for besides its page. */
export interface ConfFilters {
  enable?: boolean | undefined;
  cluster_ids?: number[] | undefined;
  job_type?: string[] | undefined;
  job_type_langs?: string[] | undefined;
  last_run_status?: string[] | undefined;
  created_by_ids?: number[] | undefined;
  modified_by_ids?: number[] | undefined;
  limit: number;
  pageNumber: number;
}

/** The cluster of a body, and its settings under their contract names. */
export interface ConfBody extends JobSettings {
  cluster_id?: number | undefined;
  cluster_name?: string | undefined;
}

/** What a configuration is called and is, once its body is checked. */
export type NewConf = Pick<JobConf, 'name' | 'job_type' | 'language' | 'max_concurrency' | 'settings'>;

/** Configurations of one kind: make, find, change, delete. */
export abstract class ConfsOfKind<Write> {
  /** The beginning of the codes of refusals. */
  protected abstract readonly who: Configures & NamesDependencies;
  /** What its runs are called. */
  protected abstract readonly runs: string;

  constructor(
    protected readonly parts: ConfParts,
    protected readonly repository: ConfsRepository,
  ) {}

  enable(scope: WorkspaceScope, selector: RecordSelector): Promise<Write> {
    return this.setActive(scope, selector, true);
  }

  /** No new run can be submitted; those that were go on. */
  disable(scope: WorkspaceScope, selector: RecordSelector): Promise<Write> {
    return this.setActive(scope, selector, false);
  }

  async delete(scope: WorkspaceScope, selector: RecordSelector): Promise<Message> {
    return this.parts.transactions.run(async (tx) => {
      const row = await this.locked(tx, scope, selector);
      const { label } = this.repository.kind;
      if ((await this.repository.unfinishedRuns(tx, row.job_conf_id, 1)) > 0) {
        throw conflict(
          `${this.who}.IN_USE`,
          `The ${label} "${row.name}" has ${this.runs} that have not ended. Stop them, or wait for them, first.`,
        );
      }
      await this.deleted(tx, row);
      await this.repository.delete(tx, scope, row);
      return { message: `The ${label} "${row.name}" (id ${row.job_conf_id}) is deleted.` };
    });
  }

  /** Id of the cluster that the selector names; 404 if the tenant has none, 409 if it does not serve the workspace. */
  async usableCluster(tx: Tx, scope: WorkspaceScope, selector: RecordSelector): Promise<number> {
    const cluster = await this.parts.clusters.find(tx, scope.tenantId, selector);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with ${describeSelector(selector)}.`);
    await this.parts.clusterWorkspaces.assertServes(tx, cluster, scope.workspace);
    return cluster.cluster_id;
  }

  protected abstract write(row: JobConfRow, tx: Tx): Write | Promise<Write>;

  /** Throws a 400 for settings that a configuration of the language cannot have. */
  protected abstract check(language: JobConf['language'], settings: Required<JobSettings>): void;

  /** What else goes with a configuration, in the transaction of its deletion. */
  protected deleted(_tx: Tx, _row: JobConfRow): Promise<void> {
    return Promise.resolve();
  }

  /** Not found is 404 in a search only. */
  protected async page(
    scope: WorkspaceScope,
    query: ConfFilters,
    partOfName: string | undefined,
  ): Promise<Page<JobConfRow>> {
    const page = await this.repository.list(
      scope,
      query,
      (conditions) => {
        conditions
          .onlyEnabled(query.enable)
          .only('cluster_id', query.cluster_ids)
          .only('job_type', query.job_type)
          .only('language', query.job_type_langs)
          .only('created_by_user_id', query.created_by_ids)
          .only('modified_by_user_id', query.modified_by_ids);
        this.repository.lastRunIs(query.last_run_status)(conditions);
      },
      partOfName,
    );
    if (partOfName !== undefined && page.result_set.total_objects === 0) {
      const { label } = this.repository.kind;
      throw notFound(`${this.who}.NOT_FOUND`, `No ${label} of the workspace has "${partOfName}" in its name.`);
    }
    return page;
  }

  /** Adds a configuration in the transaction; `conf.settings` are checked. */
  protected async add(tx: Tx, scope: WorkspaceScope, conf: NewConf, cluster: RecordSelector): Promise<JobConfRow> {
    await this.parts.workspaces.lockActive(tx, scope.workspace.workspaceId);
    await this.parts.dependencies.check(this.who, scope, conf.settings, tx);
    return this.repository.insert(tx, scope, {
      cluster_id: await this.usableCluster(tx, scope, cluster),
      unfinished_runs: conf.max_concurrency === 0 ? null : 0,
      ...conf,
    });
  }

  /** Runs that were submitted before keep what they began with. */
  protected async updateConf(
    scope: WorkspaceScope,
    selector: RecordSelector,
    body: ConfBody & { max_concurrency?: number | undefined },
    name: string | undefined,
  ): Promise<Write> {
    assertChanges(body);
    return this.change(scope, selector, async (tx, row) => {
      if (openEnded(row.to_date) !== null) {
        const { label } = this.repository.kind;
        throw conflict(`${this.who}.DISABLED`, `The ${label} "${row.name}" is disabled. Enable it first.`);
      }
      const settings = settingsOf(body, row.settings);
      this.check(row.language, settings);
      // Not what the record had before: older releases let users set more.
      checkConf(this.who, body.conf);
      await this.parts.dependencies.check(this.who, scope, body, tx);
      const movesTo = body.cluster_id !== undefined || body.cluster_name !== undefined;
      return this.repository.update(tx, scope, row.job_conf_id, {
        name,
        settings,
        cluster_id: movesTo ? await this.usableCluster(tx, scope, selectorFrom(body, 'cluster')) : row.cluster_id,
        ...(await this.limit(tx, row, body.max_concurrency)),
      });
    });
  }

  private setActive(scope: WorkspaceScope, selector: RecordSelector, active: boolean): Promise<Write> {
    return this.change(scope, selector, async (tx, row) => {
      if ((openEnded(row.to_date) === null) === active) {
        const state = active ? 'enabled' : 'disabled';
        const { label } = this.repository.kind;
        throw conflict(`${this.who}.INVALID_STATE`, `The ${label} "${row.name}" is already ${state}.`);
      }
      await this.repository.setEnd(tx, scope, row.job_conf_id, active);
      return this.repository.get(scope, { id: row.job_conf_id }, tx);
    });
  }

  private change(
    scope: WorkspaceScope,
    selector: RecordSelector,
    work: (tx: Tx, row: JobConfRow) => Promise<JobConfRow>,
  ): Promise<Write> {
    return this.parts.transactions.run(async (tx) => {
      return this.write(await work(tx, await this.locked(tx, scope, selector)), tx);
    });
  }

  /** The configuration for a change of it: until `tx` ends nobody submits a run of it. */
  private async locked(tx: Tx, scope: WorkspaceScope, selector: RecordSelector) {
    await this.parts.workspaces.lockActive(tx, scope.workspace.workspaceId);
    return this.repository.get(scope, selector, tx, true);
  }

  /** Columns of a changed limit: its runs are counted as long as it has one. */
  private async limit(tx: Tx, row: JobConfRow, limit: number | undefined): Promise<Values<JobConf>> {
    if (limit === undefined) return {};
    if (limit === 0) return { max_concurrency: limit, unfinished_runs: null };
    const unfinished = row.unfinished_runs ?? (await this.repository.unfinishedRuns(tx, row.job_conf_id, null));
    return { max_concurrency: limit, unfinished_runs: unfinished };
  }
}

/** Throws a 400 for a file that a run could not have, or whose path could lead out of the workspace. */
export function assertFiles(settings: Required<JobSettings>): void {
  const { files, jars, archives } = settings;
  for (const archive of archives ?? []) assertArchiveFolder(archive);
  for (const file of [files, jars, archives].flatMap((list) => list ?? [])) assertOneFile(file);
  for (const file of filesNamed(settings, {})) if (file !== '') assertInWorkspace(file);
}
