import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import { type ClusterConfData, clusterConfJoins, clusterConfJson } from './cluster-confs.contract';

export interface ClusterConfRow extends AuditRow {
  cluster_conf_id: number;
  name: string;
  cluster_conf: ClusterConfData;
}

@Injectable()
export class ClusterConfsRepository extends ResourceRepository<ClusterConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'cluster_confs',
      idColumn: 'cluster_conf_id',
      columns: `t.cluster_conf_id, t.name, t.last_update_date, t.from_date, t.to_date,
        ${clusterConfJson('t')} AS cluster_conf`,
      joins: clusterConfJoins('t'),
      code: 'CLUSTER_CONF',
      label: 'cluster configuration',
    });
  }
}
