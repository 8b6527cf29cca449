import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { VolumeConf } from './entities/volume-conf.entity';

export type VolumeConfRow = VolumeConf & AuthorNames;

@Injectable()
export class VolumeConfsRepository extends ResourceRepository<VolumeConf, VolumeConfRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: VolumeConf,
    });
  }

  /** Filters by the provider of the disk type, if one is given. */
  ofProvider(cloudProviderId: number | undefined): ResourceFilter<VolumeConf> {
    return (conditions) =>
      conditions.addIf(
        cloudProviderId !== undefined,
        't.disk_type_id IN (SELECT l.disk_type_id FROM disk_types l WHERE l.cloud_provider_id = ?)',
        cloudProviderId,
      );
  }
}
