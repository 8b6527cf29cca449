import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

const GB = 'GiB (2^30 bytes), rounded to two decimals';

export class OnPremNodesQuery {
  @Param.text({ optional: false, description: 'Endpoint of Proxmox VE (https://… or http://…), or local://' })
  endpoint: string;
  @Param.id({ optional: false, description: 'Credentials of type OnPrem basic auth' }) credential_config_id: number;
}

@About('A host of the hypervisor with its resources.')
export class OnPremNode {
  @Field.text({ description: 'Name of the host' }) node_name: string;
  @Field.int32({ description: 'Logical processors' }) cpu_cores: number;
  @Field.number({ description: '0 to 100, rounded to two decimals' }) cpu_usage_percent: number;
  @Field.number({ description: GB }) ram_total_gb: number;
  @Field.number({ description: GB }) ram_used_gb: number;
  @Field.number({ description: GB }) disk_total_gb: number;
  @Field.number({ description: GB }) disk_used_gb: number;
}

@About('The hosts of a hypervisor.')
export class OnPremNodeResources {
  @Field.objects(() => OnPremNode, { description: 'Nodes that are online' }) nodes: OnPremNode[];
}
