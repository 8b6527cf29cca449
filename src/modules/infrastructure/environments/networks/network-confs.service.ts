import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { fieldsOf, idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { acceptedValues, assertRequiredKeys, otherValues } from '../../../../platform/http/resources/accepted-keys';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import {
  requestedProviderId,
  type CloudProviderName,
  type CloudProviderRef,
  ReferenceData,
} from '../../../foundation/reference-data';
import type {
  CreateNetworkConf,
  NetworkConfListQuery,
  NetworkConfRead,
  NetworkConfWrite,
  UpdateNetworkConf,
} from './dto/network-conf.dto';
import { NetworkConf } from './entities/network-conf.entity';
import { NETWORK_KEYS, type NetworkKey } from './network-keys';
import { NetworkConfFields, networkConfRef } from './network-confs';
import { type NetworkConfRow, NetworkConfsRepository } from './network-confs.repository';

/** Manages the networks that machines join, each of one cloud provider. */
@Injectable()
export class NetworkConfsService extends ResourceService<{
  entity: NetworkConf;
  row: NetworkConfRow;
  create: CreateNetworkConf;
  update: UpdateNetworkConf;
  read: NetworkConfRead;
  write: NetworkConfWrite;
  listQuery: NetworkConfListQuery;
}> {
  constructor(
    transactions: Transactions,
    repository: NetworkConfsRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
  ) {
    super(transactions, repository);
  }

  protected filter(query: NetworkConfListQuery): ResourceFilter<NetworkConf> {
    return (conditions) => conditions.only('cloud_provider_id', requestedProviderId(query.cloud_provider));
  }

  protected async columnsOfNew(_scope: TenantScope, body: CreateNetworkConf): Promise<Values<NetworkConf>> {
    return { ...otherValues(NETWORK_KEYS, body), ...this.networkColumns(body.cloud_provider_id, body) };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: NetworkConfRow,
    body: UpdateNetworkConf,
    tx: Tx,
  ): Promise<Values<NetworkConf>> {
    const columns = this.networkColumns(row.cloud_provider_id, body, row);
    if (Object.keys(columns).some((key) => body[key as NetworkKey] !== undefined)) {
      // Running nodes stay in their network, which the configuration would no longer describe.
      await this.references.assertFree(tx, scope, NetworkConf, row.network_conf_id);
    }
    return { ...otherValues(NETWORK_KEYS, body), ...columns };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, NetworkConf, id);
  }

  protected async assertDeletable(scope: TenantScope, row: NetworkConfRow, tx: Tx): Promise<void> {
    await this.references.assertUnused(tx, scope.tenantId, NetworkConf, row.network_conf_id);
  }

  protected read(row: NetworkConfRow): NetworkConfRead {
    return {
      ...networkConfRef(row, this.referenceData),
      cloud_provider: this.cloudProvider(row.cloud_provider_id),
      tenant_id: row.tenant_id,
      ...readAudit(row),
    };
  }

  protected write(row: NetworkConfRow): NetworkConfWrite {
    return {
      network_conf_id: idText(row.network_conf_id),
      name: row.name,
      cloud_provider_id: idText(row.cloud_provider_id),
      availability_zone_id: idText(row.availability_zone_id),
      ...fieldsOf(NetworkConfFields, row),
      tenant_id: row.tenant_id,
      ...writeAudit(row),
    };
  }

  /** Validates the keys that the provider requires and drops keys that it does not accept. */
  private networkColumns(providerId: number, body: UpdateNetworkConf, before?: NetworkConfRow): Values<NetworkConf> {
    const records = this.referenceData.selectable(providerId, before?.cloud_provider_id);
    const provider = requireRecord(records.cloudProvider(providerId), 'cloud provider', providerId);
    const keys = NETWORK_KEYS[provider.name as CloudProviderName];
    const values = acceptedValues(keys, body, before);
    assertRequiredKeys(keys, values, 'NETWORK_CONF', provider.name);
    if (values.availability_zone_id != null) {
      this.assertZone(values.availability_zone_id, before?.availability_zone_id, provider);
    }
    return values;
  }

  private assertZone(zoneId: number, before: number | null | undefined, provider: CloudProviderRef): void {
    const records = this.referenceData.selectable(zoneId, before);
    const zone = requireRecord(records.availabilityZone(zoneId), 'availability zone', zoneId);
    if (zone.cloud_provider_id === provider.cloud_provider_id) return;
    throw invalid(
      'NETWORK_CONF.PROVIDER_MISMATCH',
      `Availability zone ${zone.name} belongs to ${zone.cloud_provider.name}, but the network configuration belongs to ${provider.name}.`,
    );
  }

  private cloudProvider(id: number): CloudProviderRef {
    return requireRecord(this.referenceData.cloudProvider(id), 'cloud provider', id);
  }
}
