import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { requestedProviderId, type DiskTypeInfo, ReferenceData } from '../../../foundation/reference-data';
import type {
  CreateVolumeConf,
  UpdateVolumeConf,
  VolumeConfListQuery,
  VolumeConfRead,
  VolumeConfWrite,
} from './dto/volume-conf.dto';
import { VolumeConf } from './entities/volume-conf.entity';
import { diskViolation, diskSize, keptShape } from './volume-confs';
import { type VolumeConfRow, VolumeConfsRepository } from './volume-confs.repository';

/** The values that must be consistent with the disk type. */
interface VolumeShape {
  disk_type_id: number;
  size: number | null;
  disk_iops: number | null;
  disk_throughput_mb: number | null;
}

const OUT_OF_BOUNDS = {
  size: 'VOLUME_CONF.SIZE_OUT_OF_BOUNDS',
  disk_iops: 'VOLUME_CONF.IOPS_OUT_OF_BOUNDS',
  disk_throughput_MB: 'VOLUME_CONF.THROUGHPUT_OUT_OF_BOUNDS',
};

/** Manages volume configurations: type, size and performance of a machine's disks. */
@Injectable()
export class VolumeConfsService extends ResourceService<{
  entity: VolumeConf;
  row: VolumeConfRow;
  create: CreateVolumeConf;
  update: UpdateVolumeConf;
  read: VolumeConfRead;
  write: VolumeConfWrite;
  listQuery: VolumeConfListQuery;
}> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: VolumeConfsRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
  ) {
    super(transactions, repository);
  }

  /** Locks the record until the transaction ends. Returns false if it has been deleted. */
  async lockCurrent(scope: TenantScope, id: number, tx: Tx): Promise<boolean> {
    return (await this.repository.find(scope, { id }, tx, 'share')) !== null;
  }

  protected filter(query: VolumeConfListQuery): ResourceFilter<VolumeConf> {
    return this.repository.ofProvider(requestedProviderId(query.cloud_provider));
  }

  protected columnsOfNew(_scope: TenantScope, body: CreateVolumeConf): Promise<Values<VolumeConf>> {
    const { disk_throughput_MB = null, disk_iops = null, size = null, ...rest } = body;
    const shape = { disk_type_id: body.disk_type_id, size, disk_iops, disk_throughput_mb: disk_throughput_MB };
    const disk = this.selectableDiskType(body.disk_type_id);
    return Promise.resolve({ ...rest, ...shape, size: checkShape(shape, disk) });
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: VolumeConfRow,
    body: UpdateVolumeConf,
    tx: Tx,
  ): Promise<Values<VolumeConf>> {
    await this.references.assertFree(tx, scope, VolumeConf, row.volume_conf_id);
    const { disk_throughput_MB, ...rest } = body;
    const disk = this.selectableDiskType(body.disk_type_id ?? row.disk_type_id, row.disk_type_id);
    assertSameProvider(this.diskType(row.disk_type_id), disk);
    const before = { size: row.size, iops: row.disk_iops, throughputMb: row.disk_throughput_mb };
    const retained = keptShape(row.disk_type_id, before, disk);
    const shape = {
      disk_type_id: disk.disk_type_id,
      size: body.size ?? retained.size,
      disk_iops: body.disk_iops === undefined ? retained.iops : body.disk_iops,
      disk_throughput_mb: disk_throughput_MB === undefined ? retained.throughputMb : disk_throughput_MB,
    };
    return { ...rest, ...shape, size: checkShape(shape, disk) };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, VolumeConf, id);
  }

  protected async assertDeletable(scope: TenantScope, row: VolumeConfRow, tx: Tx): Promise<void> {
    await this.references.assertFree(tx, scope, VolumeConf, row.volume_conf_id);
  }

  protected read(row: VolumeConfRow): VolumeConfRead {
    return {
      volume_conf_id: row.volume_conf_id,
      volume_conf_name: row.name,
      description: row.description,
      encrypted: row.encrypted,
      size: row.size,
      disk_type: this.diskType(row.disk_type_id),
      machine_volume_num: row.machine_volume_num,
      machine_volume_strip_num: row.machine_volume_strip_num,
      disk_iops: row.disk_iops,
      disk_throughput_MB: row.disk_throughput_mb,
      ...readAudit(row),
    };
  }

  protected write(row: VolumeConfRow): VolumeConfWrite {
    return {
      volume_conf_id: idText(row.volume_conf_id),
      name: row.name,
      description: row.description,
      encrypted: row.encrypted,
      size: idText(row.size),
      disk_type_id: idText(row.disk_type_id),
      disk_type_name: this.diskType(row.disk_type_id).name,
      machine_volume_num: row.machine_volume_num,
      machine_volume_strip_num: row.machine_volume_strip_num,
      disk_iops: row.disk_iops,
      disk_throughput_MB: row.disk_throughput_mb,
      ...writeAudit(row),
    };
  }

  private diskType(id: number): DiskTypeInfo {
    return requireRecord(this.referenceData.diskType(id), 'disk type', id);
  }

  private selectableDiskType(id: number, before?: number): DiskTypeInfo {
    return requireRecord(this.referenceData.selectable(id, before).diskType(id), 'disk type', id);
  }
}

/** Throws 400 unless the shape fits the disk type. Returns the size, which a disk type of fixed size supplies. */
function checkShape(shape: VolumeShape, disk: DiskTypeInfo): number {
  const size = diskSize(shape.size, disk);
  if (size === null) throw invalid('VOLUME_CONF.SIZE_REQUIRED', `size (in GB) is required for disk type ${disk.name}.`);
  const violation = diskViolation(disk, { size, iops: shape.disk_iops, throughputMb: shape.disk_throughput_mb });
  if (violation) throw invalid(OUT_OF_BOUNDS[violation.field], violation.message);
  return size;
}

function assertSameProvider(before: DiskTypeInfo, after: DiskTypeInfo): void {
  if (before.cloud_provider.cloud_provider_id === after.cloud_provider.cloud_provider_id) return;
  throw invalid(
    'VOLUME_CONF.PROVIDER_MISMATCH',
    'The new disk type belongs to another cloud provider. Create a new volume configuration for that provider.',
  );
}
