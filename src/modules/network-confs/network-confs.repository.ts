import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import type { NetworkConfData } from './network-confs.contract';

export interface NetworkConfRow extends AuditRow, NetworkConfData {
  tenant_id: string;
}

@Injectable()
export class NetworkConfsRepository extends ResourceRepository<NetworkConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'network_confs',
      idColumn: 'network_conf_id',
      columns: 't.*',
      code: 'NETWORK_CONF',
      label: 'network configuration',
    });
  }
}
