import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { BootDiskImage } from './entities/boot-disk-image.entity';

export type BootDiskImageRow = BootDiskImage & AuthorNames;

@Injectable()
export class BootDiskImagesRepository extends ResourceRepository<BootDiskImage, BootDiskImageRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: BootDiskImage,
    });
  }

  /** Filters by machine architecture, if one is given. */
  ofArchitecture(name: string | undefined): ResourceFilter<BootDiskImage> {
    return (conditions) =>
      conditions.addIf(
        name !== undefined,
        `t.architecture_type_id IN (SELECT a.machine_architecture_type_id FROM machine_architecture_types a
           WHERE a.machine_architecture_type = ?)`,
        name,
      );
  }
}
