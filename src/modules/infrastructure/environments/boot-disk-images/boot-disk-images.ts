import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import { LinuxDistroRef, MachineArchitectureRef, type ReferenceData } from '../../../foundation/reference-data';
import { BootDiskImage } from './entities/boot-disk-image.entity';

/** A boot disk image inside another record. */
@About('A reference to a boot disk image.')
export class BootDiskImageRef {
  @Field.id() boot_disk_image_id: number;
  @Field.text({ description: 'Name of the boot disk image, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => LinuxDistroRef) linux_distro: LinuxDistroRef;
  @Field.text() boot_disk_image: string;
  @Field.object(() => MachineArchitectureRef, { description: 'The processor architecture of the image' })
  architecture_type: MachineArchitectureRef;
}

/** A boot disk image without audit fields. */
export type BootDiskImageData = Own<BootDiskImage>;

/** Returns SQL for {@link BootDiskImageData} as one jsonb value. */
export function bootDiskImageJson(alias: string): string {
  return recordJson(alias, BootDiskImage);
}

export function bootDiskImageRef(data: BootDiskImageData, referenceData: ReferenceData): BootDiskImageRef {
  return {
    boot_disk_image_id: data.boot_disk_image_id,
    name: data.name,
    description: data.description,
    linux_distro: requireRecord(referenceData.linuxDistro(data.linux_distro_id), 'linux distro', data.linux_distro_id),
    boot_disk_image: data.boot_disk_image,
    architecture_type: requireRecord(
      referenceData.architecture(data.architecture_type_id),
      'architecture type',
      data.architecture_type_id,
    ),
  };
}
