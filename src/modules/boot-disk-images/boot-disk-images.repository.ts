import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditRow } from '../../platform/http/answers';
import { ResourceRepository } from '../../platform/resources/resource-repository';
import type { BootDiskImageData } from './boot-disk-images.contract';

export type BootDiskImageRow = AuditRow & BootDiskImageData;

@Injectable()
export class BootDiskImagesRepository extends ResourceRepository<BootDiskImageRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      table: 'boot_disk_images',
      idColumn: 'boot_disk_image_id',
      columns: 't.*',
      code: 'BOOT_DISK_IMAGE',
      label: 'boot disk image',
    });
  }
}
