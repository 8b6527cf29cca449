import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import {
  ARCHITECTURES,
  CLOUD_PROVIDER_ALIASES,
  CLOUD_PROVIDERS,
  CloudProviderRef,
  LinuxDistroRef,
  MachineArchitectureRef,
} from '../../../../foundation/reference-data';

export class BootDiskImageSelector extends RecordSelectorQuery('boot_disk_image') {}

export class BootDiskImageListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
  @Param.oneOf(ARCHITECTURES, { description: 'Only images for this processor architecture' })
  architecture_type?: string;
}

export class BootDiskImageSearchQuery extends BootDiskImageListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) boot_disk_image_name: string;
}

@Example({
  name: 'example-image',
  cloud_provider_id: 3,
  linux_distro_id: 1,
  boot_disk_image: 'local',
  architecture_type_id: 0,
})
@About('An image from which nodes boot.')
export class CreateBootDiskImage {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.id() cloud_provider_id: number;
  @Field.id() linux_distro_id: number;
  @Field.line({ filled: true, description: "The provider's name of the image" }) boot_disk_image: string;
  @Field.id({ description: 'Id of the processor architecture of the image; `listMachineArchitectureTypes` lists them' })
  architecture_type_id: number;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a boot disk image; at least one. Absent fields keep their values.')
export class UpdateBootDiskImage {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.id({ optional: true }) linux_distro_id?: number;
  @Field.line({ optional: true, filled: true, description: "The provider's name of the image" })
  boot_disk_image?: string;
}

@About('A boot disk image, from which the machines of nodes boot.')
export class BootDiskImageRead extends ReadAudit {
  @Field.id() boot_disk_image_id: number;
  @Field.text({ description: 'Name of the boot disk image, unique in the tenant' }) boot_disk_image_name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.object(() => LinuxDistroRef) linux_distro: LinuxDistroRef;
  @Field.text() boot_disk_image: string;
  @Field.object(() => MachineArchitectureRef, { description: 'The processor architecture of the image' })
  architecture_type: MachineArchitectureRef;
}

@About('A boot disk image as returned by a write. Its own id is a decimal string.')
export class BootDiskImageWrite extends WriteAudit {
  @Field.idText() boot_disk_image_id: string;
  @Field.text({ description: 'Name of the boot disk image, unique in the tenant' }) boot_disk_image_name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.id() cloud_provider_id: number;
  @Field.id() linux_distro_id: number;
  @Field.text() boot_disk_image: string;
  @Field.id({ description: 'Id of the processor architecture of the image' }) architecture_type_id: number;
}
