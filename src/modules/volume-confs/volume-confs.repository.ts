import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';

export interface VolumeConfRow extends AuditRow {
  volume_conf_id: number;
  name: string;
  description: string | null;
  encrypted: boolean;
  size: number;
  disk_type_id: number;
  machine_volume_num: number;
  machine_volume_strip_num: number;
  disk_iops: number | null;
  disk_throughput_mb: number | null;
}

@Injectable()
export class VolumeConfsRepository extends ResourceRepository<VolumeConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'volume_confs',
      idColumn: 'volume_conf_id',
      columns: 't.*',
      joins: 'JOIN disk_types dt ON dt.disk_type_id = t.disk_type_id',
      code: 'VOLUME_CONF',
      label: 'volume configuration',
    });
  }
}
