import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS, CloudProviderRef } from '../../../../foundation/reference-data';
import { NetworkConfFields, NetworkConfRef } from '../network-confs';

export class NetworkConfSelector extends RecordSelectorQuery('network_conf') {}

export class NetworkConfListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, { aliases: CLOUD_PROVIDER_ALIASES }) cloud_provider?: string;
}

export class NetworkConfSearchQuery extends NetworkConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) network_conf_name: string;
}

/** Fields that create and update requests share. */
class NetworkConfSettings {
  @Field.description() description?: string | null;
  @Field.line({ optional: true, description: 'GCP, AWS and Azure' }) network_project_id?: string;
  @Field.line({ optional: true, description: 'GCP, AWS, Azure and OCI' }) network_name?: string;
  @Field.lines({ optional: true, unique: true, description: 'GCP, AWS, Azure and OCI' })
  network_tags?: string[];
  @Field.line({ optional: true, description: 'GCP, AWS, Azure and OCI' }) subnet?: string;
  @Field.id({ optional: true, nullable: true, description: 'GCP, AWS, Azure and OCI' })
  availability_zone_id?: number | null;
  @Field.line({ optional: true, description: 'OnPrem' }) bridge?: string;
  @Field.line({ optional: true, description: 'OnPrem' }) model?: string;
}

@Example({ name: 'example-network', cloud_provider_id: 3, bridge: 'vmbr0', model: 'virtio' })
export class CreateNetworkConf extends NetworkConfSettings {
  @Field.name() name: string;
  @Field.id() cloud_provider_id: number;
}

@Example({ description: 'Changed by an example' })
export class UpdateNetworkConf extends NetworkConfSettings {
  @Field.name({ optional: true }) name?: string;
}

export class NetworkConfRead extends IntersectionType(NetworkConfRef, ReadAudit) {
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.uuid() tenant_id: string;
}

export class NetworkConfWrite extends IntersectionType(NetworkConfFields, WriteAudit) {
  @Field.idText() network_conf_id: string;
  @Field.text() name: string;
  @Field.idText() cloud_provider_id: string;
  @Field.idText({ nullable: true }) availability_zone_id: string | null;
  @Field.uuid() tenant_id: string;
}
