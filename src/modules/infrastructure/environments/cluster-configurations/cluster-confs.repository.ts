import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { type ClusterConfRefs, clusterConfJoins, volumeOfClusterConf } from './cluster-confs.joins';
import { ClusterConf } from './entities/cluster-conf.entity';

export type ClusterConfRow = ClusterConf & AuthorNames & ClusterConfRefs;

@Injectable()
export class ClusterConfsRepository extends ResourceRepository<ClusterConf, ClusterConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: ClusterConf,
      further: `${volumeOfClusterConf()} AS volume_conf`,
      joins: clusterConfJoins('t'),
    });
  }
}
