import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** An image that machines of one provider and architecture boot from. */
@Entity('boot_disk_images')
@Unique('uq_boot_disk_images_tenant_id', ['tenantId', 'bootDiskImageId'])
@Index('uq_boot_disk_images_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_boot_disk_images_list', ['tenantId', 'bootDiskImageId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_boot_disk_images_name_part', 'name', { where: CURRENT })
export class BootDiskImage extends TenantColumns {
  @Col.identity('boot_disk_image_id', 'pk_boot_disk_images') bootDiskImageId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_boot_disk_images_cloud_provider' })
  @Col.int('cloud_provider_id')
  cloudProviderId: number;
  @ForeignKey('LinuxDistro', { name: 'fk_boot_disk_images_linux_distro' })
  @Col.int('linux_distro_id')
  linuxDistroId: number;
  /** The image as the provider names it. */
  @Col.text('boot_disk_image') bootDiskImage: string;
  @ForeignKey('MachineArchitectureType', { name: 'fk_boot_disk_images_architecture_type' })
  @Col.int('architecture_type_id')
  architectureTypeId: number;
}
