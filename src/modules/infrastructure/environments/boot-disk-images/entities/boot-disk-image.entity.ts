import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** An image that machines of one provider and architecture boot from. */
@Entity('boot_disk_images')
@Unique('uq_boot_disk_images_tenant_id', ['tenant_id', 'boot_disk_image_id'])
@Index('uq_boot_disk_images_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_boot_disk_images_list', ['tenant_id', 'boot_disk_image_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_boot_disk_images_name_part', 'name', { where: CURRENT })
@RecordKind({ code: 'BOOT_DISK_IMAGE', label: 'boot disk image' })
export class BootDiskImage extends TenantColumns {
  @Col.identity('pk_boot_disk_images') boot_disk_image_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_boot_disk_images_cloud_provider' })
  @Col.int()
  cloud_provider_id: number;
  @ForeignKey('LinuxDistro', { name: 'fk_boot_disk_images_linux_distro' })
  @Col.int()
  linux_distro_id: number;
  /** The provider's name of the image. */
  @Col.text() boot_disk_image: string;
  @ForeignKey('MachineArchitectureType', { name: 'fk_boot_disk_images_architecture_type' })
  @Col.int()
  architecture_type_id: number;
}
