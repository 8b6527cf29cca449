import { MACHINE_LABEL, OWNERSHIP_LABELS } from '../../../../../libs/compute-drivers/cloud-driver';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { productName } from '../../../../platform/kernel/product/product-name';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import {
  type BootDiskImageData,
  bootDiskImageJson,
  BootDiskImageRef,
  bootDiskImageRef,
} from '../boot-disk-images/boot-disk-images';
import {
  CredentialConfRef,
  credentialConfRef,
  type CredentialsConfData,
  credentialsConfJson,
} from '../credentials/credentials-confs';
import { type NetworkConfData, networkConfJson, NetworkConfRef, networkConfRef } from '../networks/network-confs';
import {
  AvailabilityZoneRef,
  CloudProviderRef,
  type LabelPattern,
  type ReferenceData,
} from '../../../foundation/reference-data';
import { CloudEnv } from './entities/cloud-env.entity';

/** Endpoint of an OnPrem environment whose nodes are processes on a worker's machine. */
export const LOCAL_ENDPOINT = 'local://';

/** A cloud environment inside another record. */
@About('A reference to a cloud environment.')
export class CloudEnvInfo {
  @Field.id() cloud_env_id: number;
  @Field.text({ description: 'Name of the cloud environment, unique in the tenant' }) cloud_env_name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.map({
    values: 'string',
    description: 'Labels of the machines of all its clusters, the reserved ones included',
  })
  labels: Record<string, string>;
  @Field.object(() => AvailabilityZoneRef, { nullable: true }) availability_zone: AvailabilityZoneRef | null;
  @Field.object(() => NetworkConfRef, { description: 'The network of the nodes' }) network_config: NetworkConfRef;
  @Field.text({ nullable: true }) cloud_project: string | null;
  @Field.object(() => CredentialConfRef, { description: 'The credentials with which nodes are created' })
  credential_config: CredentialConfRef;
  @Field.object(() => BootDiskImageRef, { description: 'The image from which nodes boot' })
  boot_disk_image: BootDiskImageRef;
  @Field.text({ nullable: true }) endpoint: string | null;
  @Field.texts({ nullable: true }) onprem_node_names: string[] | null;
}

export interface CloudEnvRefs {
  network_conf: NetworkConfData;
  credentials_conf: CredentialsConfData;
  boot_disk_image: BootDiskImageData;
}

/** A cloud environment with the records it refers to, without audit fields. */
export type CloudEnvData = Own<CloudEnv> & CloudEnvRefs;

/** SQL for {@link CloudEnvRefs} by key. Needs {@link cloudEnvJoins}. */
export const CLOUD_ENV_REFS: Readonly<Record<keyof CloudEnvRefs, string>> = {
  network_conf: networkConfJson('nc'),
  credentials_conf: credentialsConfJson('cr'),
  boot_disk_image: bootDiskImageJson('bi'),
};

/** Returns SQL for {@link CloudEnvData} as one jsonb value. Needs {@link cloudEnvJoins}. */
export function cloudEnvJson(): string {
  return recordJson('ce', CloudEnv, { nested: CLOUD_ENV_REFS });
}

/** Returns SQL that joins the records a cloud environment refers to. `ce` is its alias. */
export function cloudEnvJoins(ce = 'ce'): string {
  return `JOIN network_confs nc ON nc.tenant_id = ${ce}.tenant_id AND nc.network_conf_id = ${ce}.network_conf_id
    JOIN credentials_confs cr ON cr.tenant_id = ${ce}.tenant_id AND cr.credentials_conf_id = ${ce}.credentials_conf_id
    JOIN boot_disk_images bi ON bi.tenant_id = ${ce}.tenant_id AND bi.boot_disk_image_id = ${ce}.boot_disk_image_id`;
}

export function cloudEnvInfo(data: CloudEnvData, referenceData: ReferenceData): CloudEnvInfo {
  const { cloud_provider_id: providerId, availability_zone_id: zoneId } = data;
  return {
    cloud_env_id: data.cloud_env_id,
    cloud_env_name: data.name,
    description: data.description,
    cloud_provider: requireRecord(referenceData.cloudProvider(providerId), 'cloud provider', providerId),
    labels: data.labels,
    availability_zone:
      zoneId === null ? null : requireRecord(referenceData.availabilityZone(zoneId), 'availability zone', zoneId),
    network_config: networkConfRef(data.network_conf, referenceData),
    cloud_project: data.cloud_project,
    credential_config: credentialConfRef(data.credentials_conf, referenceData),
    boot_disk_image: bootDiskImageRef(data.boot_disk_image, referenceData),
    endpoint: data.endpoint,
    onprem_node_names: data.onprem_node_names,
  };
}

/** Maximum labels of a cloud environment, and of a cluster in addition to those of its environment. */
export const MAX_LABELS = 25;

/** Returns the labels that the platform sets on all cloud resources it creates for a tenant. */
export function reservedLabels(tenantId: string): Record<string, string> {
  const product = productName().toLowerCase();
  return { resource: product, [MACHINE_LABEL]: `${product}_node`, tenant_id: tenantId };
}

/**
 * Removes unchanged reserved labels. A client that reads a record, changes one label and sends all labels back must not
 * be refused for them.
 */
export function withoutReserved(
  labels: Readonly<Record<string, unknown>>,
  tenantId: string,
): Readonly<Record<string, unknown>> {
  const reserved: Readonly<Record<string, unknown>> = reservedLabels(tenantId);
  const isReserved = (key: string) => Object.hasOwn(reserved, key) && reserved[key] === labels[key];
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isReserved(key)));
}

/** Throws 400 for the first label that is reserved or does not match the provider's pattern. */
export function checkLabels(
  labels: Readonly<Record<string, unknown>>,
  pattern: LabelPattern | undefined,
): asserts labels is Record<string, string> {
  const reserved = [...Object.keys(reservedLabels('')), ...OWNERSHIP_LABELS];
  for (const [key, value] of Object.entries(labels)) {
    // Some providers do not distinguish upper and lower case in keys.
    if (reserved.includes(key.toLowerCase())) {
      throw invalid('LABEL.RESERVED', `The label ${key} is reserved for the platform. Use another key.`, {
        key,
        reserved,
      });
    }
    if (typeof value !== 'string')
      throw invalid('LABEL.INVALID', `The value of label "${key}" must be a string.`, { key });
    if (pattern && !(pattern.key.test(key) && pattern.value.test(value))) {
      throw invalid('LABEL.INVALID', `The provider does not accept the label "${key}": ${pattern.description}.`, {
        key,
      });
    }
  }
}
