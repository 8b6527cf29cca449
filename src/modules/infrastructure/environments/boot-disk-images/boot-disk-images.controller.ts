import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateBootDiskImage,
  BootDiskImageListQuery,
  BootDiskImageRead,
  BootDiskImageSearchQuery,
  BootDiskImageSelector,
  BootDiskImageWrite,
  UpdateBootDiskImage,
} from './dto/boot-disk-image.dto';
import { BootDiskImagesService } from './boot-disk-images.service';

@Controller()
export class BootDiskImagesController extends ResourceController({
  one: 'BootDiskImage',
  many: 'BootDiskImages',
  label: 'boot disk image',
  tag: 'Infrastructure',
  notes: {
    create: 'Whether the provider has the image is not checked until a node is created.',
    update:
      'While a cluster that uses it is neither DESTROYED nor in ERROR, only name and description can change. Provider and architecture never change.',
    delete: 'No cloud environment may use it.',
  },
  path: '/machine/boot_disk_image',
  listPath: '/machine/boot_disk_images',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: BootDiskImageSelector,
  listQuery: BootDiskImageListQuery,
  searchQuery: BootDiskImageSearchQuery,
  partOfName: (query: BootDiskImageSearchQuery) => query.boot_disk_image_name,
  create: CreateBootDiskImage,
  update: UpdateBootDiskImage,
  read: BootDiskImageRead,
  write: BootDiskImageWrite,
}) {
  constructor(service: BootDiskImagesService) {
    super(service);
  }
}
