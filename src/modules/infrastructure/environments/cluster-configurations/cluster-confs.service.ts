import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { ReferenceData } from '../../../foundation/reference-data';
import { VolumeConfsService } from '../volumes/volume-confs.service';
import type { VolumeData } from '../volumes/volume-confs';
import { clusterConfRef, machineTypeOf } from './cluster-confs.joins';
import { type ClusterConfRow, ClusterConfsRepository } from './cluster-confs.repository';
import type {
  ClusterConfListQuery,
  ClusterConfRead,
  ClusterConfWrite,
  CreateClusterConf,
  UpdateClusterConf,
} from './dto/cluster-conf.dto';
import { ClusterConf } from './entities/cluster-conf.entity';

/** Manages cluster configurations: the machine type and disks of a cluster's nodes. */
@Injectable()
export class ClusterConfsService extends ResourceService<{
  entity: ClusterConf;
  row: ClusterConfRow;
  create: CreateClusterConf;
  update: UpdateClusterConf;
  read: ClusterConfRead;
  write: ClusterConfWrite;
  listQuery: ClusterConfListQuery;
}> {
  constructor(
    transactions: Transactions,
    repository: ClusterConfsRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
    private readonly volumeConfs: VolumeConfsService,
  ) {
    super(transactions, repository);
  }

  /** Also locks the volume, because a volume that no node uses may be deleted, and must not be used afterwards. */
  override async getRow(scope: TenantScope, selector: RecordSelector, tx: Tx): Promise<ClusterConfRow> {
    const row = await super.getRow(scope, selector, tx);
    const volume = row.volume_conf;
    if (volume === null || (await this.volumeConfs.lockCurrent(scope, volume.volume_conf_id, tx))) return row;
    throw conflict(
      'CLUSTER_CONF.VOLUME_DELETED',
      `The volume configuration "${volume.name}" of the cluster configuration "${row.name}" is deleted. Assign another volume configuration first.`,
      { cluster_conf_id: row.cluster_conf_id, volume_conf_id: volume.volume_conf_id },
    );
  }

  protected filter(query: ClusterConfListQuery): ResourceFilter<ClusterConf> {
    const { cloud_provider: provider, compute_type: computeType, architecture_type: architecture } = query;
    return (conditions) => {
      if ([provider, computeType, architecture].every((value) => value === undefined)) return;
      const machineTypes = [...this.referenceData.machineTypes()].filter(
        ({ category, info }) =>
          (provider === undefined || info.cloud_provider.name === provider) &&
          (computeType === undefined || category === computeType) &&
          (architecture === undefined || info.machine_architecture_type.machine_architecture_type === architecture),
      );
      // Filter by ids: PostgreSQL cannot estimate how many records a subquery leaves (ADR 0009).
      conditions.only(
        'machine_type_id',
        machineTypes.map(({ info }) => info.machine_type_id),
      );
    };
  }

  protected async columnsOfNew(scope: TenantScope, body: CreateClusterConf, tx: Tx): Promise<Values<ClusterConf>> {
    this.assertSameProvider(body.machine_type_id, await this.volume(scope, body.volume_conf_id, tx));
    return { ...body };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: ClusterConfRow,
    body: UpdateClusterConf,
    tx: Tx,
  ): Promise<Values<ClusterConf>> {
    const { machine_type_id, volume_conf_id } = body;
    if (machine_type_id !== undefined || volume_conf_id !== undefined) {
      // Running nodes keep their machines, which the configuration would no longer describe.
      await this.references.assertFree(tx, scope, ClusterConf, row.cluster_conf_id);
      const volume = volume_conf_id === undefined ? row.volume_conf : await this.volume(scope, volume_conf_id, tx);
      this.assertSameProvider(machine_type_id ?? row.machine_type_id, volume, row.machine_type_id);
    }
    return { ...body };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, ClusterConf, id);
  }

  protected async assertDeletable(scope: TenantScope, row: ClusterConfRow, tx: Tx): Promise<void> {
    await this.references.assertReleased(tx, scope, ClusterConf, row.cluster_conf_id);
  }

  protected read(row: ClusterConfRow): ClusterConfRead {
    return { ...clusterConfRef(row, this.referenceData), ...readAudit(row) };
  }

  protected write(row: ClusterConfRow): ClusterConfWrite {
    return {
      cluster_conf_id: idText(row.cluster_conf_id),
      name: row.name,
      description: row.description,
      machine_type_category_id: idText(machineTypeOf(row, this.referenceData).categoryId),
      machine_type_id: idText(row.machine_type_id),
      volume_conf_id: idText(row.volume_conf_id),
      ...writeAudit(row),
    };
  }

  private async volume(
    scope: TenantScope,
    id: number | null | undefined,
    tx: Tx,
  ): Promise<Pick<VolumeData, 'name' | 'disk_type_id'> | null> {
    return id == null ? null : this.volumeConfs.getRow(scope, { id }, tx);
  }

  private assertSameProvider(
    machineTypeId: number,
    volume: Pick<VolumeData, 'name' | 'disk_type_id'> | null,
    machineTypeBefore?: number,
  ): void {
    const records = this.referenceData.selectable(machineTypeId, machineTypeBefore);
    const machine = machineTypeOf({ machine_type_id: machineTypeId }, records);
    if (!volume) return;
    const disk = requireRecord(this.referenceData.diskType(volume.disk_type_id), 'disk type', volume.disk_type_id);
    if (disk.cloud_provider.cloud_provider_id === machine.cloudProviderId) return;
    throw invalid(
      'CLUSTER_CONF.PROVIDER_MISMATCH',
      `Volume configuration "${volume.name}" belongs to ${disk.cloud_provider.name}, but machine type ${machine.info.name} belongs to ${machine.info.cloud_provider.name}.`,
    );
  }
}
