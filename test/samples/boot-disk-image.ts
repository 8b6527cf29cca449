import type {
  CreateBootDiskImage,
  UpdateBootDiskImage,
} from '../../src/modules/infrastructure/environments/boot-disk-images/dto/boot-disk-image.dto';
import type { BootDiskImage } from '../../src/modules/infrastructure/environments/boot-disk-images/entities/boot-disk-image.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

export const bootDiskImage = sample<CreateBootDiskImage, UpdateBootDiskImage, BootDiskImage>({
  path: '/machine/boot_disk_image',
  body: () => ({
    cloud_provider_id: REFERENCE.cloud_provider_id,
    linux_distro_id: REFERENCE.linux_distro_id,
    architecture_type_id: REFERENCE.architecture_type_id,
    boot_disk_image: 'ubuntu',
  }),
  change: { boot_disk_image: 'debian' },
});
