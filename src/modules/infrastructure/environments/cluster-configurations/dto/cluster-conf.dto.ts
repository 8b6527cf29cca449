import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import {
  ARCHITECTURES,
  CLOUD_PROVIDER_ALIASES,
  CLOUD_PROVIDERS,
  COMPUTE_TYPES,
} from '../../../../foundation/reference-data';
import { ClusterConfRef } from '../cluster-confs.joins';

export class ClusterConfSelector extends RecordSelectorQuery('cluster_conf') {}

export class ClusterConfListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
  @Param.oneOf(COMPUTE_TYPES, { description: 'Only configurations with a machine type for this workload' })
  compute_type?: string;
  @Param.oneOf(ARCHITECTURES, { description: 'Only configurations with a machine type of this processor architecture' })
  architecture_type?: string;
}

export class ClusterConfSearchQuery extends ClusterConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) cluster_conf_name: string;
}

@Example({ name: 'example-machines', machine_type_id: 1486, volume_conf_id: 1 })
@About('The machine of a node.')
export class CreateClusterConf {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.id() machine_type_id: number;
  @Field.id({ optional: true, nullable: true }) volume_conf_id?: number | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a cluster configuration; at least one. Absent fields keep their values.')
export class UpdateClusterConf {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.id({ optional: true }) machine_type_id?: number;
  @Field.id({ optional: true, nullable: true }) volume_conf_id?: number | null;
}

@About('A cluster configuration: the machine type of nodes, with a volume configuration for their disks.')
export class ClusterConfRead extends IntersectionType(ClusterConfRef, ReadAudit) {}

@About('A cluster configuration as returned by a write. Ids are decimal strings.')
export class ClusterConfWrite extends WriteAudit {
  @Field.idText() cluster_conf_id: string;
  @Field.text({ description: 'Name of the cluster configuration, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText({ description: 'Id of the compute type of the machine type' }) machine_type_category_id: string;
  @Field.idText() machine_type_id: string;
  @Field.idText({ nullable: true }) volume_conf_id: string | null;
}
