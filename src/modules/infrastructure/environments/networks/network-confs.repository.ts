import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { NetworkConf } from './entities/network-conf.entity';

export type NetworkConfRow = NetworkConf & AuthorNames;

@Injectable()
export class NetworkConfsRepository extends ResourceRepository<NetworkConf, NetworkConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: NetworkConf,
    });
  }
}
