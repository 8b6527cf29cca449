import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import {
  Conditions,
  firstRow,
  jsonb,
  NOW,
  returning,
  rows,
  type Tx,
} from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { RecordKindNames } from '../../../../platform/http/resources/record-kind';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { WorkspaceResourceRepository } from '../../../../platform/http/resources/workspace-resource-repository';
import { RunConfiguration } from './entities/run-configuration.entity';
import type { KindScope, RunKind } from './run-kinds';

export interface RunConfigurationRow extends RunConfiguration, AuthorNames {
  cluster_name: string;
  cluster_status: string;
  cluster_type: string;
  cluster_size: number;
  last_run_id: number | null;
  last_run_status: string | null;
}

/** Columns of the cluster, alias `c`, that responses about its jobs contain. */
export const CLUSTER_INFO_COLUMNS = `c.name AS cluster_name, c.status AS cluster_status, c.cluster_type,
  (SELECT count(*) FROM cluster_nodes n WHERE n.cluster_id = c.cluster_id AND n.to_date = 'infinity') AS cluster_size`;

/** SQL: status of the newest run of configuration `t`, or null. */
const LAST_RUN_STATUS = `(SELECT r.status FROM runs r WHERE r.job_conf_id = t.job_conf_id
  ORDER BY r.run_id DESC LIMIT 1)`;

/** Validated values of a configuration from a request or a document. */
export type ConfigurationValues = Pick<
  RunConfiguration,
  'name' | 'job_type' | 'language' | 'max_concurrency' | 'settings'
>;

/** Absent filters do not filter. */
export interface ConfigurationFilters extends PageRequest {
  enable?: boolean | undefined;
  cluster_ids?: number[] | undefined;
  job_type?: string[] | undefined;
  job_type_langs?: string[] | undefined;
  last_run_status?: string[] | undefined;
  created_by_ids?: number[] | undefined;
  modified_by_ids?: number[] | undefined;
}

const REPLACE = `DO UPDATE SET cluster_id = excluded.cluster_id, job_type = excluded.job_type,
  language = excluded.language, settings = excluded.settings, max_concurrency = excluded.max_concurrency,
  unfinished_runs = CASE WHEN excluded.max_concurrency > 0 THEN coalesce(t.unfinished_runs,
    (SELECT count(*) FROM runs WHERE job_conf_id = t.job_conf_id AND ended_at IS NULL)) END,
  modified_by_user_id = excluded.modified_by_user_id, last_update_date = platform_now()`;

@Injectable()
export class RunConfigurationsRepository extends WorkspaceResourceRepository<
  RunConfiguration,
  RunConfigurationRow,
  KindScope
> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: RunConfiguration,
      internal: ['unfinished_runs'],
      further: `${CLUSTER_INFO_COLUMNS}, last.run_id AS last_run_id, last.status AS last_run_status`,
      joins: `JOIN clusters c ON c.cluster_id = t.cluster_id
        LEFT JOIN LATERAL (SELECT r.run_id, r.status FROM runs r WHERE r.job_conf_id = t.job_conf_id
          ORDER BY r.run_id DESC LIMIT 1) last ON TRUE`,
    });
  }

  page(scope: KindScope, filters: ConfigurationFilters, partOfName?: string): Promise<Page<RunConfigurationRow>> {
    const { last_run_status: statuses } = filters;
    const filter: ResourceFilter<RunConfiguration> = (conditions) =>
      conditions
        .onlyEnabled(filters.enable)
        .only('cluster_id', filters.cluster_ids)
        .only('job_type', filters.job_type)
        .only('language', filters.job_type_langs)
        .only('created_by_user_id', filters.created_by_ids)
        .only('modified_by_user_id', filters.modified_by_ids)
        .addIf(statuses !== undefined, `${LAST_RUN_STATUS} = ANY(?)`, statuses);
    return this.list(scope, filters, filter, partOfName);
  }

  /**
   * Counts one more unfinished run of a configuration with a limit; throws a 409 if the limit is reached. Other submissions of the
   * configuration wait until `tx` ends.
   */
  async countOneMore(
    tx: Tx,
    { configuration, run }: RunKind,
    conf: Pick<RunConfiguration, 'job_conf_id' | 'name' | 'max_concurrency'>,
  ): Promise<void> {
    const counted = await returning(
      tx,
      `UPDATE job_confs SET unfinished_runs = unfinished_runs + 1
       WHERE job_conf_id = $1 AND unfinished_runs < max_concurrency RETURNING job_conf_id`,
      [conf.job_conf_id],
    );
    if (counted.length > 0) return;
    const { name, max_concurrency } = conf;
    throw conflict(
      `${configuration.code}.MAX_CONCURRENCY`,
      `The ${configuration.label} "${name}" already has ${max_concurrency} unfinished ${run.label}s, as many as its max_concurrency allows. Stop one, or wait until one ends.`,
      { unfinished: max_concurrency, max_concurrency },
    );
  }

  /** Counts the unfinished runs of the configuration, up to `limit`. */
  async unfinishedRuns(tx: Tx, jobConfId: number, limit: number | null): Promise<number> {
    const row = await firstRow<{ runs: number }>(
      tx,
      `SELECT count(*) AS runs
       FROM (SELECT 1 FROM runs WHERE job_conf_id = $1 AND ended_at IS NULL LIMIT $2) unfinished`,
      [jobConfId, limit],
    );
    return row?.runs ?? 0;
  }

  /** Soft-deletes a configuration: it is no longer found, but its runs keep their reference. */
  async delete(tx: Tx, scope: KindScope, jobConf: Pick<RunConfiguration, 'job_conf_id' | 'to_date'>): Promise<void> {
    const to_date = jobConf.to_date instanceof Date ? undefined : NOW;
    await this.writeRow(tx, scope, jobConf.job_conf_id, { to_date, deleted_at: NOW });
  }

  async setEnd(tx: Tx, scope: KindScope, jobConfId: number, isOpen: boolean): Promise<void> {
    await this.write(tx, scope, jobConfId, { to_date: isOpen ? Infinity : NOW });
  }

  /** Returns up to `limit` configurations of a workspace with ids greater than `after`. */
  async someOf(
    { tenantId, workspace, kind }: KindScope,
    { enabled, after, limit }: { enabled: boolean | undefined; after: number; limit: number },
  ): Promise<RunConfiguration[]> {
    const conditions = new Conditions<RunConfiguration>()
      .add(ofTenant('t'), tenantId)
      .only('workspace_id', workspace.workspaceId)
      .only('kind', kind.resource)
      .onlyEnabled(enabled)
      .add('t.job_conf_id > ?', after);
    this.addValidity(conditions);
    return rows<RunConfiguration>(
      this.dataSource.manager,
      `SELECT t.* FROM job_confs t WHERE ${conditions.sql} ORDER BY t.job_conf_id LIMIT ${limit}`,
      conditions.params,
    );
  }

  /** Inserts configurations. Those with a name in use are replaced or skipped. Returns the ones that were written. */
  async import(
    tx: Tx,
    { tenantId, userId, workspace, kind }: KindScope,
    clusterId: number,
    confs: readonly ConfigurationValues[],
    overwrite: boolean,
  ): Promise<Pick<RunConfiguration, 'job_conf_id' | 'name'>[]> {
    if (overwrite) {
      // Locks out submissions, as every change of a configuration does.
      await tx.query(
        `SELECT 1 FROM job_confs WHERE workspace_id = $1 AND kind = '${kind.resource}' AND name = ANY($2) AND to_date = 'infinity'
         ORDER BY job_conf_id FOR UPDATE`,
        [workspace.workspaceId, confs.map(({ name }) => name)],
      );
    }
    return rows<Pick<RunConfiguration, 'job_conf_id' | 'name'>>(
      tx,
      `INSERT INTO job_confs AS t (tenant_id, workspace_id, kind, cluster_id, name, job_type, language, max_concurrency,
         unfinished_runs, settings, created_by_user_id, modified_by_user_id)
       SELECT $1, $2, '${kind.resource}', $3, name, job_type, language, max_concurrency, CASE WHEN max_concurrency > 0 THEN 0 END, settings,
         $4, $4
       FROM ROWS FROM (jsonb_to_recordset($5) AS (name text, job_type text, language text, max_concurrency bigint,
         settings jsonb)) WITH ORDINALITY AS given (name, job_type, language, max_concurrency, settings, place)
       ORDER BY place
       ON CONFLICT (workspace_id, kind, name) WHERE to_date = 'infinity' ${overwrite ? REPLACE : 'DO NOTHING'}
       RETURNING t.job_conf_id, t.name`,
      [tenantId, workspace.workspaceId, clusterId, userId, jsonb(confs)],
    );
  }

  protected override within(scope: KindScope): Conditions<RunConfiguration> {
    return super.within(scope).add('t.kind = ?', scope.kind.resource);
  }

  protected override placeOf(scope: KindScope): Partial<RunConfiguration> {
    return { ...super.placeOf(scope), kind: scope.kind.resource };
  }

  protected override namesIn({ kind }: KindScope): RecordKindNames {
    return kind.configuration;
  }

  /** Disabled configurations can still be read and listed. */
  protected override addValidity(conditions: Conditions<RunConfiguration>): void {
    conditions.add('t.deleted_at IS NULL');
  }
}
