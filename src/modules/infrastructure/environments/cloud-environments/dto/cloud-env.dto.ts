import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { ARCHITECTURES, CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS } from '../../../../foundation/reference-data';
import { CloudEnvInfo } from '../cloud-envs.joins';

const LABELS = 'At most 25 labels. The platform adds resource, vm and tenant_id';

export class CloudEnvSelector extends RecordSelectorQuery('cloud_env') {}

export class CloudEnvListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
  @Param.oneOf(ARCHITECTURES, {
    description: 'Only environments whose boot disk image is for this processor architecture',
  })
  architecture_type?: string;
}

export class CloudEnvSearchQuery extends CloudEnvListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) cloud_env_name: string;
}

@Example({
  name: 'example-environment',
  cloud_provider_id: 3,
  network_conf_id: 1,
  credential_config_id: 1,
  boot_disk_image_id: 1,
  endpoint: 'local://',
})
@About('Where nodes are created. Which fields are needed depends on the provider.')
export class CreateCloudEnv {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.int32({ min: 0 }) cloud_provider_id: number;
  @Field.id({
    optional: true,
    nullable: true,
    description: 'GCP, AWS, Azure and OCI: id of the zone of the nodes; null for none',
  })
  availability_zone_id?: number | null;
  @Field.id() network_conf_id: number;
  @Field.line({
    optional: true,
    description: 'GCP: the project of the nodes; Azure: their resource group; AWS needs a value and does not use it',
  })
  cloud_project?: string;
  @Field.id({ description: 'Id of the credentials with which nodes are created; OnPrem needs basic auth' })
  credential_config_id: number;
  @Field.id() boot_disk_image_id: number;
  @Field.map({ optional: true, values: 'string', description: LABELS }) labels?: Record<string, string>;
  @Field.line({ optional: true, description: 'OnPrem: https://…, http://… or local://' }) endpoint?: string;
  @Field.lines({
    optional: true,
    nullable: true,
    unique: true,
    description: 'OnPrem: hosts of the hypervisor on which nodes may be; null or absent for any',
  })
  onprem_node_names?: string[] | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a cloud environment; at least one. Absent fields keep their values; null clears a field.')
export class UpdateCloudEnv {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.id({
    optional: true,
    nullable: true,
    description: 'GCP, AWS, Azure and OCI: id of the zone of the nodes; null for none',
  })
  availability_zone_id?: number | null;
  @Field.id({ optional: true }) network_conf_id?: number;
  @Field.line({
    optional: true,
    description: 'GCP: the project of the nodes; Azure: their resource group; AWS needs a value and does not use it',
  })
  cloud_project?: string;
  @Field.id({
    optional: true,
    description: 'Id of the credentials with which nodes are created; OnPrem needs basic auth',
  })
  credential_config_id?: number;
  @Field.id({ optional: true }) boot_disk_image_id?: number;
  @Field.map({ optional: true, values: 'string', description: LABELS }) labels?: Record<string, string>;
  @Field.line({ optional: true, description: 'OnPrem: https://…, http://… or local://' }) endpoint?: string;
  @Field.lines({
    optional: true,
    nullable: true,
    unique: true,
    description: 'OnPrem: hosts of the hypervisor on which nodes may be; null for any',
  })
  onprem_node_names?: string[] | null;
}

@About('A cloud environment: provider, place, network, credentials and image of nodes.')
export class CloudEnvRead extends IntersectionType(CloudEnvInfo, ReadAudit) {
  @Field.uuid() tenant_id: string;
}

@About('A cloud environment as returned by a write. Ids are decimal strings.')
export class CloudEnvWrite extends WriteAudit {
  @Field.idText() cloud_env_id: string;
  @Field.text({ description: 'Name of the cloud environment, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText() cloud_provider_id: string;
  @Field.idText({ nullable: true }) availability_zone_id: string | null;
  @Field.idText() network_conf_id: string;
  @Field.text({ nullable: true }) cloud_project: string | null;
  @Field.idText({ description: 'Id of the credentials with which nodes are created' }) credential_config_id: string;
  @Field.idText() boot_disk_image_id: string;
  @Field.map({
    values: 'string',
    description: 'Labels of the machines of all its clusters, the reserved ones included',
  })
  labels: Record<string, string>;
  @Field.text({ nullable: true }) endpoint: string | null;
  @Field.texts({ nullable: true }) onprem_node_names: string[] | null;
  @Field.uuid() tenant_id: string;
}
