import { Field } from '../../platform/http/fields';
import { jsonObject } from '../../platform/resources/json-object';
import { known } from '../../platform/resources/known';
import { LinuxDistroRef, MachineArchitectureRef, type ReferenceData } from '../reference-data/reference-data.contract';

/** A boot disk image inside another record. */
export class BootDiskImageRef {
  @Field.id() boot_disk_image_id: number;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => LinuxDistroRef) linux_distro: LinuxDistroRef;
  @Field.text() boot_disk_image: string;
  @Field.object(() => MachineArchitectureRef) architecture_type: MachineArchitectureRef;
}

/** What the database answers for a boot disk image, without audit. */
export interface BootDiskImageData {
  boot_disk_image_id: number;
  name: string;
  description: string | null;
  cloud_provider_id: number;
  linux_distro_id: number;
  boot_disk_image: string;
  architecture_type_id: number;
}

const COLUMNS: readonly (keyof BootDiskImageData)[] = [
  'boot_disk_image_id',
  'name',
  'description',
  'cloud_provider_id',
  'linux_distro_id',
  'boot_disk_image',
  'architecture_type_id',
];

/** SQL of {@link BootDiskImageData} as one jsonb value. */
export function bootDiskImageJson(alias: string): string {
  return jsonObject(alias, COLUMNS);
}

export function bootDiskImageRef(data: BootDiskImageData, referenceData: ReferenceData): BootDiskImageRef {
  return {
    boot_disk_image_id: data.boot_disk_image_id,
    name: data.name,
    description: data.description,
    linux_distro: known(referenceData.linuxDistro(data.linux_distro_id), 'linux distro', data.linux_distro_id),
    boot_disk_image: data.boot_disk_image,
    architecture_type: known(
      referenceData.architecture(data.architecture_type_id),
      'architecture type',
      data.architecture_type_id,
    ),
  };
}
