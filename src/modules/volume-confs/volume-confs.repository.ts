import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import { VolumeConf } from './entities/volume-conf.entity';

export type VolumeConfRow = VolumeConf & AuthorNames;

@Injectable()
export class VolumeConfsRepository extends ResourceRepository<VolumeConf, VolumeConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: VolumeConf,
    });
  }
}
