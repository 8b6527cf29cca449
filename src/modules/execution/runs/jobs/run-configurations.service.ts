import { Injectable } from '@nestjs/common';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../../platform/kernel/errors/domain-error';
import { openEnded } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import type { Page } from '../../../../platform/kernel/dto/page';
import { describeSelector, type RecordSelector, selectorFrom } from '../../../../platform/kernel/dto/selector';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { checkConf, ClusterSlotsService } from '../../clusters';
import { DependencyRepositoriesService } from '../../../infrastructure/storage';
import { ClusterWorkspacesService, WorkspacesService } from '../../workspaces';
import { type JobSettings, settingsOf } from './dto/job-conf.dto';
import type { RunConfiguration } from './entities/run-configuration.entity';
import {
  type ConfigurationFilters,
  type ConfigurationValues,
  type RunConfigurationRow,
  RunConfigurationsRepository,
} from './run-configurations.repository';
import type { KindScope } from './run-kinds';

const BATCH = 100;

/** Changes of a configuration; its settings have their names on the wire. */
export interface ConfigurationChanges extends JobSettings {
  name?: string | undefined;
  cluster_id?: number | undefined;
  cluster_name?: string | undefined;
  max_concurrency?: number | undefined;
}

/** Configurations of all kinds of runs. Changes join the transaction of the caller, because it also builds the response. */
@Injectable()
export class RunConfigurationsService {
  constructor(
    private readonly repository: RunConfigurationsRepository,
    private readonly workspaces: WorkspacesService,
    private readonly clusters: ClusterSlotsService,
    private readonly clusterWorkspaces: ClusterWorkspacesService,
    private readonly dependencies: DependencyRepositoriesService,
  ) {}

  get(scope: KindScope, selector: RecordSelector): Promise<RunConfigurationRow> {
    return this.repository.get(scope, selector);
  }

  /** A search without results throws a 404, a list does not. */
  async list(
    scope: KindScope,
    filters: ConfigurationFilters,
    partOfName: string | undefined,
  ): Promise<Page<RunConfigurationRow>> {
    const page = await this.repository.page(scope, filters, partOfName);
    if (partOfName !== undefined && page.result_set.total_objects === 0) {
      const { code, label } = scope.kind.configuration;
      throw notFound(`${code}.NOT_FOUND`, `No ${label} of the workspace has "${partOfName}" in its name.`);
    }
    return page;
  }

  /** Adds a configuration. The caller has checked its settings. */
  async add(
    tx: Tx,
    scope: KindScope,
    values: ConfigurationValues,
    cluster: RecordSelector,
  ): Promise<RunConfigurationRow> {
    await this.workspaces.lockActive(tx, scope.workspace.workspaceId);
    await this.dependencies.check(scope.kind.configuration.code, scope, values.settings, tx);
    return this.repository.insert(tx, scope, {
      cluster_id: await this.usableCluster(tx, scope, cluster),
      unfinished_runs: values.max_concurrency === 0 ? null : 0,
      ...values,
    });
  }

  /** Runs that were already submitted keep their settings. */
  async update(
    tx: Tx,
    scope: KindScope,
    selector: RecordSelector,
    changes: ConfigurationChanges,
  ): Promise<RunConfigurationRow> {
    assertChanges(changes);
    const { configuration, check } = scope.kind;
    const row = await this.lock(tx, scope, selector);
    if (openEnded(row.to_date) !== null) {
      const { code, label } = configuration;
      throw conflict(`${code}.DISABLED`, `The ${label} "${row.name}" is disabled. Enable it first.`);
    }
    const settings = settingsOf(changes, row.settings);
    check(row.language, settings);
    // Only the changed entries: stored ones may come from older releases, which allowed more.
    checkConf(configuration.code, changes.conf);
    await this.dependencies.check(configuration.code, scope, changes, tx);
    const movesTo = changes.cluster_id !== undefined || changes.cluster_name !== undefined;
    return this.repository.update(tx, scope, row.job_conf_id, {
      name: changes.name,
      settings,
      cluster_id: movesTo ? await this.usableCluster(tx, scope, selectorFrom(changes, 'cluster')) : row.cluster_id,
      ...(await this.limitColumns(tx, row, changes.max_concurrency)),
    });
  }

  /** A disabled configuration accepts no new runs; submitted runs continue. */
  async setActive(tx: Tx, scope: KindScope, selector: RecordSelector, active: boolean): Promise<RunConfigurationRow> {
    const row = await this.lock(tx, scope, selector);
    if ((openEnded(row.to_date) === null) === active) {
      const { code, label } = scope.kind.configuration;
      throw conflict(
        `${code}.INVALID_STATE`,
        `The ${label} "${row.name}" is already ${active ? 'enabled' : 'disabled'}.`,
      );
    }
    await this.repository.setEnd(tx, scope, row.job_conf_id, active);
    return this.repository.get(scope, { id: row.job_conf_id }, tx);
  }

  async delete(tx: Tx, scope: KindScope, selector: RecordSelector): Promise<RunConfigurationRow> {
    const row = await this.lock(tx, scope, selector);
    if ((await this.repository.unfinishedRuns(tx, row.job_conf_id, 1)) > 0) {
      const { code, label, runs } = scope.kind.configuration;
      throw conflict(
        `${code}.IN_USE`,
        `The ${label} "${row.name}" has unfinished ${runs}. Stop them, or wait until they end.`,
      );
    }
    await this.repository.delete(tx, scope, row);
    return row;
  }

  /** Updates who changed the configuration and when, without changing its columns: the change is in what it runs. */
  async recordChange(tx: Tx, scope: KindScope, jobConfId: number): Promise<void> {
    await this.repository.update(tx, scope, jobConfId, {});
  }

  async *all(scope: KindScope, enabled: boolean | undefined): AsyncGenerator<RunConfiguration[]> {
    for (let after = 0; ;) {
      const batch = await this.repository.someOf(scope, { enabled, after, limit: BATCH });
      yield batch;
      const last = batch.at(-1);
      if (!last || batch.length < BATCH) return;
      after = last.job_conf_id;
    }
  }

  /** Adds validated configurations. Those with a name in use are replaced or skipped. Returns the ones that were written. */
  import(
    tx: Tx,
    scope: KindScope,
    clusterId: number,
    values: readonly ConfigurationValues[],
    overwrite: boolean,
  ): Promise<Pick<RunConfiguration, 'job_conf_id' | 'name'>[]> {
    return this.repository.import(tx, scope, clusterId, values, overwrite);
  }

  /** Returns the id of the cluster. Throws a 404 if the tenant has no such cluster, and a 409 if it does not serve the workspace. */
  async usableCluster(tx: Tx, scope: WorkspaceScope, selector: RecordSelector): Promise<number> {
    const cluster = await this.clusters.find(tx, scope.tenantId, selector);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with ${describeSelector(selector)}.`);
    await this.clusterWorkspaces.assertServes(tx, cluster, scope.workspace);
    return cluster.cluster_id;
  }

  /** Locks the configuration until `tx` ends, so that no run of it is submitted during a change. */
  private async lock(tx: Tx, scope: KindScope, selector: RecordSelector): Promise<RunConfigurationRow> {
    await this.workspaces.lockActive(tx, scope.workspace.workspaceId);
    return this.repository.get(scope, selector, tx, true);
  }

  /** Returns the columns of a changed limit. Unfinished runs are counted only while there is a limit. */
  private async limitColumns(
    tx: Tx,
    row: RunConfiguration,
    limit: number | undefined,
  ): Promise<Values<RunConfiguration>> {
    if (limit === undefined) return {};
    if (limit === 0) return { max_concurrency: limit, unfinished_runs: null };
    const unfinished = row.unfinished_runs ?? (await this.repository.unfinishedRuns(tx, row.job_conf_id, null));
    return { max_concurrency: limit, unfinished_runs: unfinished };
  }
}
