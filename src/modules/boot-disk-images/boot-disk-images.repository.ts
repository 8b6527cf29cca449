import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import { BootDiskImage } from './entities/boot-disk-image.entity';

export type BootDiskImageRow = BootDiskImage & AuthorNames;

@Injectable()
export class BootDiskImagesRepository extends ResourceRepository<BootDiskImage, BootDiskImageRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: BootDiskImage,
    });
  }
}
