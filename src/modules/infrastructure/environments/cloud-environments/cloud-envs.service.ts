import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { acceptedValues, assertRequiredKeys } from '../../../../platform/http/resources/accepted-keys';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { BootDiskImagesService } from '../boot-disk-images/boot-disk-images.service';
import { CredentialsConfsService } from '../credentials/credentials-confs.service';
import { NetworkConfsService } from '../networks/network-confs.service';
import {
  requestedProviderId,
  type CloudProviderName,
  type CloudProviderRef,
  ReferenceData,
} from '../../../foundation/reference-data';
import { CLOUD_ENV_KEYS } from './cloud-env-keys';
import { assertCredentialType, assertProvider } from './cloud-env-provider';
import {
  checkLabels,
  type CloudEnvData,
  cloudEnvInfo,
  MAX_LABELS,
  reservedLabels,
  withoutReserved,
} from './cloud-envs.joins';
import { type CloudEnvRow, CloudEnvsRepository } from './cloud-envs.repository';
import type {
  CloudEnvListQuery,
  CloudEnvRead,
  CloudEnvWrite,
  CreateCloudEnv,
  UpdateCloudEnv,
} from './dto/cloud-env.dto';
import { CloudEnv } from './entities/cloud-env.entity';
import { OnPremNodesService } from './onprem-nodes.service';

/** Manages cloud environments. An environment's provider never changes, and all its references belong to it. */
@Injectable()
export class CloudEnvsService extends ResourceService<{
  entity: CloudEnv;
  row: CloudEnvRow;
  create: CreateCloudEnv;
  update: UpdateCloudEnv;
  read: CloudEnvRead;
  write: CloudEnvWrite;
  listQuery: CloudEnvListQuery;
}> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: CloudEnvsRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
    private readonly networkConfs: NetworkConfsService,
    private readonly credentialsConfs: CredentialsConfsService,
    private readonly bootDiskImages: BootDiskImagesService,
    private readonly onPremNodes: OnPremNodesService,
  ) {
    super(transactions, repository);
  }

  protected filter(query: CloudEnvListQuery): ResourceFilter<CloudEnv> {
    return (conditions) => {
      conditions.only('cloud_provider_id', requestedProviderId(query.cloud_provider));
      this.repository.ofArchitecture(query.architecture_type)(conditions);
    };
  }

  protected async columnsOfNew(scope: TenantScope, body: CreateCloudEnv, tx: Tx): Promise<Values<CloudEnv>> {
    const { name, description, cloud_provider_id, labels = {} } = body;
    const columns = await this.checkedColumns(scope, cloud_provider_id, { ...body, labels }, tx);
    return { name, description, cloud_provider_id, ...columns };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: CloudEnvRow,
    body: UpdateCloudEnv,
    tx: Tx,
  ): Promise<Values<CloudEnv>> {
    await this.references.assertFree(tx, scope, CloudEnv, row.cloud_env_id);
    if (losesNodes(row, body)) await this.references.assertDisowned(tx, scope, CloudEnv, row.cloud_env_id);
    const { name, description } = body;
    const columns = await this.checkedColumns(scope, row.cloud_provider_id, body, tx, row);
    return { name, description, ...columns };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, CloudEnv, id);
  }

  protected async assertDeletable(scope: TenantScope, row: CloudEnvRow, tx: Tx): Promise<void> {
    await this.references.assertFree(tx, scope, CloudEnv, row.cloud_env_id);
  }

  protected read(row: CloudEnvRow): CloudEnvRead {
    return { ...cloudEnvInfo(row, this.referenceData), tenant_id: row.tenant_id, ...readAudit(row) };
  }

  protected write(row: CloudEnvRow): CloudEnvWrite {
    return {
      cloud_env_id: idText(row.cloud_env_id),
      name: row.name,
      description: row.description,
      cloud_provider_id: idText(row.cloud_provider_id),
      availability_zone_id: idText(row.availability_zone_id),
      network_conf_id: idText(row.network_conf_id),
      cloud_project: row.cloud_project,
      credential_config_id: idText(row.credentials_conf_id),
      boot_disk_image_id: idText(row.boot_disk_image_id),
      labels: row.labels,
      endpoint: row.endpoint,
      onprem_node_names: row.onprem_node_names,
      tenant_id: row.tenant_id,
      ...writeAudit(row),
    };
  }

  /** Validates the request for the provider and drops keys that the provider does not accept. */
  private async checkedColumns(
    scope: TenantScope,
    providerId: number,
    body: UpdateCloudEnv,
    tx: Tx,
    before?: CloudEnvData,
  ): Promise<Values<CloudEnv>> {
    const records = this.referenceData.selectable(providerId, before?.cloud_provider_id);
    const provider = requireRecord(records.cloudProvider(providerId), 'cloud provider', providerId);
    const keys = CLOUD_ENV_KEYS[provider.name as CloudProviderName];
    const values = acceptedValues(keys, body, before);
    assertRequiredKeys(keys, values, 'CLOUD_ENV', provider.name);
    if (values.availability_zone_id != null) {
      this.assertZone(provider, values.availability_zone_id, before?.availability_zone_id);
    }
    const { endpoint } = acceptedValues(keys, body);
    if (endpoint !== undefined) await this.onPremNodes.assertEndpoint(tx, endpoint);
    await this.assertReferences(scope, provider, body, tx);
    return {
      ...values,
      network_conf_id: body.network_conf_id,
      credentials_conf_id: body.credential_config_id,
      boot_disk_image_id: body.boot_disk_image_id,
      labels: body.labels && this.storedLabels(scope, provider, body.labels),
    };
  }

  /** Locks the referenced records until the transaction ends, always in this order to prevent deadlocks. */
  private async assertReferences(
    scope: TenantScope,
    provider: CloudProviderRef,
    body: UpdateCloudEnv,
    tx: Tx,
  ): Promise<void> {
    if (body.network_conf_id !== undefined) {
      const { name, cloud_provider_id } = await this.networkConfs.getRow(scope, { id: body.network_conf_id }, tx);
      assertProvider(this.referenceData, provider, cloud_provider_id, `Network configuration "${name}"`);
    }
    if (body.credential_config_id !== undefined) {
      const { name, credential_type_id } = await this.credentialsConfs.getRow(
        scope,
        { id: body.credential_config_id },
        tx,
      );
      assertCredentialType(this.referenceData, provider, credential_type_id, name);
    }
    if (body.boot_disk_image_id !== undefined) {
      const { name, cloud_provider_id } = await this.bootDiskImages.getRow(scope, { id: body.boot_disk_image_id }, tx);
      assertProvider(this.referenceData, provider, cloud_provider_id, `Boot disk image "${name}"`);
    }
  }

  private assertZone(provider: CloudProviderRef, zoneId: number, before: number | null | undefined): void {
    const records = this.referenceData.selectable(zoneId, before);
    const zone = requireRecord(records.availabilityZone(zoneId), 'availability zone', zoneId);
    assertProvider(this.referenceData, provider, zone.cloud_provider_id, `Availability zone ${zone.name}`);
  }

  private storedLabels(
    scope: TenantScope,
    provider: CloudProviderRef,
    requested: Readonly<Record<string, unknown>>,
  ): Record<string, string> {
    const labels = withoutReserved(requested, scope.tenantId);
    const count = Object.keys(labels).length;
    if (count > MAX_LABELS) {
      throw invalid(
        'LABEL.TOO_MANY',
        `A cloud environment can have at most ${MAX_LABELS} labels; the request has ${count}.`,
      );
    }
    checkLabels(labels, this.referenceData.labelPattern(provider.cloud_provider_id));
    return { ...labels, ...reservedLabels(scope.tenantId) };
  }
}

/** True if the environment could no longer find the nodes it has created after the change. */
function losesNodes(row: CloudEnvRow, body: UpdateCloudEnv): boolean {
  const { credential_config_id: credentials, network_conf_id: network, availability_zone_id: zone } = body;
  const { cloud_project: project, endpoint } = body;
  return (
    (credentials !== undefined && credentials !== row.credentials_conf_id) ||
    // The network's zone applies if the environment has none.
    (network !== undefined && network !== row.network_conf_id) ||
    (zone !== undefined && zone !== row.availability_zone_id) ||
    (project !== undefined && project !== row.cloud_project) ||
    (endpoint !== undefined && endpoint !== row.endpoint)
  );
}
