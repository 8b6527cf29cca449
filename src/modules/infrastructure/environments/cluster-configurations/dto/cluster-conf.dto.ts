import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
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
  @Param.oneOf(CLOUD_PROVIDERS, { aliases: CLOUD_PROVIDER_ALIASES }) cloud_provider?: string;
  @Param.oneOf(COMPUTE_TYPES) compute_type?: string;
  @Param.oneOf(ARCHITECTURES, { description: 'Architecture of the machine type' }) architecture_type?: string;
}

export class ClusterConfSearchQuery extends ClusterConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) cluster_conf_name: string;
}

@Example({ name: 'example-machines', machine_type_id: 1486, volume_conf_id: 1 })
export class CreateClusterConf {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.id() machine_type_id: number;
  @Field.id({ optional: true, nullable: true }) volume_conf_id?: number | null;
}

@Example({ description: 'Changed by an example' })
export class UpdateClusterConf {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.id({ optional: true }) machine_type_id?: number;
  @Field.id({ optional: true, nullable: true }) volume_conf_id?: number | null;
}

export class ClusterConfRead extends IntersectionType(ClusterConfRef, ReadAudit) {}

export class ClusterConfWrite extends WriteAudit {
  @Field.idText() cluster_conf_id: string;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText() machine_type_category_id: string;
  @Field.idText() machine_type_id: string;
  @Field.idText({ nullable: true }) volume_conf_id: string | null;
}
