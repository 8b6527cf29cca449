import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../platform/http/answers';
import { firstRow, type Tx } from '../../platform/persistence/sql';
import type { ResourceFilter } from '../../platform/resources/resource-repository';
import { WorkspaceResourceRepository } from '../../platform/resources/workspace-resource-repository';
import { JobConf } from './entities/job-conf.entity';

export interface JobConfRow extends JobConf, AuthorNames {
  cluster_name: string;
  cluster_status: string;
  cluster_type: string;
  cluster_size: number;
  last_run_id: number | null;
  last_run_status: string | null;
}

/** What decides whether a configuration may run. */
export type LockedJobConf = Pick<JobConf, 'name' | 'max_concurrency' | 'to_date'>;

/** Columns of a cluster that answers about its jobs carry; the cluster has the alias `c`. */
export const CLUSTER_INFO_COLUMNS = `c.name AS cluster_name, c.status AS cluster_status, c.cluster_type,
  (SELECT count(*) FROM cluster_nodes n WHERE n.cluster_id = c.cluster_id AND n.to_date = 'infinity') AS cluster_size`;

/** Status of the newest run of configuration `t`; null without one. */
const LAST_RUN_STATUS = `(SELECT r.status FROM runs r WHERE r.job_conf_id = t.job_conf_id
  ORDER BY r.run_id DESC LIMIT 1)`;

@Injectable()
export class JobConfsRepository extends WorkspaceResourceRepository<JobConf, JobConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: JobConf,
      further: `${CLUSTER_INFO_COLUMNS}, last.run_id AS last_run_id, last.status AS last_run_status`,
      joins: `JOIN clusters c ON c.cluster_id = t.cluster_id
        LEFT JOIN LATERAL (SELECT r.run_id, r.status FROM runs r WHERE r.job_conf_id = t.job_conf_id
          ORDER BY r.run_id DESC LIMIT 1) last ON TRUE`,
    });
  }

  /** The configuration as it is, for a run of it: no other run of it is submitted and nobody changes it before `tx` ends. */
  async lock(tx: Tx, jobConfId: number): Promise<LockedJobConf | null> {
    const sql = 'SELECT name, max_concurrency, to_date FROM job_confs WHERE job_conf_id = $1 FOR NO KEY UPDATE';
    return firstRow(tx, sql, [jobConfId]);
  }

  /** Those whose newest run has one of the statuses; all without any. */
  lastRunIs(statuses: readonly string[] | undefined): ResourceFilter<JobConf> {
    return (conditions) => conditions.addIf(statuses !== undefined, `${LAST_RUN_STATUS} = ANY(?)`, statuses);
  }

  /** Disabled configurations are read and listed, too. */
  protected override addValidity(): void {
    return;
  }
}
