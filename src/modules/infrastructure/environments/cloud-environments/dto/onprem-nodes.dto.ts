import { Field, Param } from '../../../../../platform/kernel/dto/fields';

const GB = 'GiB (2^30 bytes), rounded to two decimals';

export class OnPremNodesQuery {
  @Param.text({ optional: false, description: 'Endpoint of Proxmox VE (https://… or http://…), or local://' })
  endpoint: string;
  @Param.id({ optional: false, description: 'Credentials of type OnPrem basic auth' }) credential_config_id: number;
}

export class OnPremNode {
  @Field.text() node_name: string;
  @Field.int32({ description: 'Logical processors' }) cpu_cores: number;
  @Field.number({ description: '0 to 100, rounded to two decimals' }) cpu_usage_percent: number;
  @Field.number({ description: GB }) ram_total_gb: number;
  @Field.number({ description: GB }) ram_used_gb: number;
  @Field.number({ description: GB }) disk_total_gb: number;
  @Field.number({ description: GB }) disk_used_gb: number;
}

export class OnPremNodeResources {
  @Field.objects(() => OnPremNode, { description: 'Nodes that are online' }) nodes: OnPremNode[];
}
