import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { requestedProviderId, type CloudProviderRef, ReferenceData } from '../../../foundation/reference-data';
import { bootDiskImageRef } from './boot-disk-images';
import { type BootDiskImageRow, BootDiskImagesRepository } from './boot-disk-images.repository';
import type {
  BootDiskImageListQuery,
  BootDiskImageRead,
  BootDiskImageWrite,
  CreateBootDiskImage,
  UpdateBootDiskImage,
} from './dto/boot-disk-image.dto';
import { BootDiskImage } from './entities/boot-disk-image.entity';

/** Manages the images that machines boot from. They belong to a tenant, although responses do not show it. */
@Injectable()
export class BootDiskImagesService extends ResourceService<{
  entity: BootDiskImage;
  row: BootDiskImageRow;
  create: CreateBootDiskImage;
  update: UpdateBootDiskImage;
  read: BootDiskImageRead;
  write: BootDiskImageWrite;
  listQuery: BootDiskImageListQuery;
}> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: BootDiskImagesRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
  ) {
    super(transactions, repository);
  }

  protected filter(query: BootDiskImageListQuery): ResourceFilter<BootDiskImage> {
    return (conditions) => {
      conditions.only('cloud_provider_id', requestedProviderId(query.cloud_provider));
      this.repository.ofArchitecture(query.architecture_type)(conditions);
    };
  }

  protected async columnsOfNew(_scope: TenantScope, body: CreateBootDiskImage): Promise<Values<BootDiskImage>> {
    const { cloud_provider_id: providerId, architecture_type_id: architectureId } = body;
    const { current } = this.referenceData;
    requireRecord(current.cloudProvider(providerId), 'cloud provider', providerId);
    this.assertLinuxDistro(body.linux_distro_id);
    requireRecord(current.architecture(architectureId), 'architecture type', architectureId);
    return { ...body };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: BootDiskImageRow,
    body: UpdateBootDiskImage,
    tx: Tx,
  ): Promise<Values<BootDiskImage>> {
    if (body.linux_distro_id !== undefined) this.assertLinuxDistro(body.linux_distro_id, row.linux_distro_id);
    if (body.linux_distro_id !== undefined || body.boot_disk_image !== undefined) {
      // Running nodes have already booted from the old image, which the record would no longer describe.
      await this.references.assertFree(tx, scope, BootDiskImage, row.boot_disk_image_id);
    }
    return { ...body };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, BootDiskImage, id);
  }

  protected async assertDeletable(scope: TenantScope, row: BootDiskImageRow, tx: Tx): Promise<void> {
    await this.references.assertUnused(tx, scope.tenantId, BootDiskImage, row.boot_disk_image_id);
  }

  protected read(row: BootDiskImageRow): BootDiskImageRead {
    const { name, ...image } = bootDiskImageRef(row, this.referenceData);
    return {
      ...image,
      boot_disk_image_name: name,
      cloud_provider: this.cloudProvider(row.cloud_provider_id),
      ...readAudit(row),
    };
  }

  protected write(row: BootDiskImageRow): BootDiskImageWrite {
    return {
      boot_disk_image_id: idText(row.boot_disk_image_id),
      boot_disk_image_name: row.name,
      description: row.description,
      cloud_provider_id: row.cloud_provider_id,
      linux_distro_id: row.linux_distro_id,
      boot_disk_image: row.boot_disk_image,
      architecture_type_id: row.architecture_type_id,
      ...writeAudit(row),
    };
  }

  private cloudProvider(id: number): CloudProviderRef {
    return requireRecord(this.referenceData.cloudProvider(id), 'cloud provider', id);
  }

  private assertLinuxDistro(id: number, before?: number): void {
    requireRecord(this.referenceData.selectable(id, before).linuxDistro(id), 'linux distro', id);
  }
}
