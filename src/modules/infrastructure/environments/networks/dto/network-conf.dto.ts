import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS, CloudProviderRef } from '../../../../foundation/reference-data';
import { NetworkConfFields, NetworkConfRef } from '../network-confs';

export class NetworkConfSelector extends RecordSelectorQuery('network_conf') {}

export class NetworkConfListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
}

export class NetworkConfSearchQuery extends NetworkConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) network_conf_name: string;
}

/** Fields that create and update requests share. */
class NetworkConfSettings {
  @Field.description() description?: string | null;
  @Field.line({
    optional: true,
    description: 'GCP: the project of the network; Azure: its resource group; AWS needs a value and does not use it',
  })
  network_project_id?: string;
  @Field.line({ optional: true, description: 'GCP, AWS, Azure and OCI: the network' }) network_name?: string;
  @Field.lines({
    optional: true,
    unique: true,
    description: 'GCP: network tags of the machines; AWS, Azure and OCI: their security groups',
  })
  network_tags?: string[];
  @Field.line({ optional: true, description: 'GCP, AWS, Azure and OCI: the subnet of the nodes' }) subnet?: string;
  @Field.id({
    optional: true,
    nullable: true,
    description: 'GCP, AWS, Azure and OCI: id of the zone of the subnet, of the same provider; null for none',
  })
  availability_zone_id?: number | null;
  @Field.line({ optional: true, description: 'OnPrem: the network bridge of the hypervisor, such as vmbr0' })
  bridge?: string;
  @Field.line({ optional: true, description: 'OnPrem: the model of the network card, such as virtio' }) model?: string;
}

@Example({ name: 'example-network', cloud_provider_id: 3, bridge: 'vmbr0', model: 'virtio' })
@About('The network of nodes. Which fields are needed depends on the provider.')
export class CreateNetworkConf extends NetworkConfSettings {
  @Field.name() name: string;
  @Field.id() cloud_provider_id: number;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a network configuration; at least one. Absent fields keep their values.')
export class UpdateNetworkConf extends NetworkConfSettings {
  @Field.name({ optional: true }) name?: string;
}

@About('A network configuration: the network in which nodes are created.')
export class NetworkConfRead extends IntersectionType(NetworkConfRef, ReadAudit) {
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.uuid() tenant_id: string;
}

@About('A network configuration as returned by a write. Ids are decimal strings.')
export class NetworkConfWrite extends IntersectionType(NetworkConfFields, WriteAudit) {
  @Field.idText() network_conf_id: string;
  @Field.text({ description: 'Name of the network configuration, unique in the tenant' }) name: string;
  @Field.idText() cloud_provider_id: string;
  @Field.idText({ nullable: true }) availability_zone_id: string | null;
  @Field.uuid() tenant_id: string;
}
