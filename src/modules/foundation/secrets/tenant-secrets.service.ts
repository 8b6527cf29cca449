import { Injectable } from '@nestjs/common';
import { parseTrusted } from '../../../../libs/json/parse-json';
import { SecretBox, SecretBoxError } from '../../../../libs/secret-box/secret-box';
import { Config } from '../../../config/config';
import { DomainError } from '../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { TenantSecretsRepository } from './tenant-secrets.repository';

type RowId = number | `${number}/${number}`;

/**
 * Seals secrets with the tenant's data key. What it seals opens for the same tenant, table and row only; a row is known
 * by its id, or by its owner and its id (`7/41`). Without the master key that wrapped the data key, either is a
 * `damaged` error.
 */
@Injectable()
export class TenantSecretsService {
  private readonly box: SecretBox;

  constructor(
    private readonly repository: TenantSecretsRepository,
    config: Config,
  ) {
    this.box = new SecretBox(config.secrets.masterKeys);
  }

  /** Encrypts a JSON object; the tenant's data key is made at its first secret. */
  async seal(tx: Tx, tenantId: string, table: string, rowId: RowId, value: object): Promise<Buffer> {
    const dataKey = (await this.dataKey(tx, tenantId)) ?? (await this.createDataKey(tx, tenantId));
    return this.box.seal(dataKey, Buffer.from(JSON.stringify(value)), boundTo(tenantId, table, rowId));
  }

  /** Decrypts what `seal` answered; throws `SecretBoxError` when it was changed or is another row's. */
  async open(tx: Tx, tenantId: string, table: string, rowId: RowId, sealed: Buffer): Promise<object> {
    return this.openWith(await this.repository.wrappedKey(tx, tenantId), tenantId, table, rowId, sealed);
  }

  /** The same for a caller who has read the tenant's data key, as it is wrapped, with the secret. */
  openWith(wrapped: Buffer | null, tenantId: string, table: string, rowId: RowId, sealed: Buffer): object {
    const dataKey = this.unwrapped(wrapped, tenantId);
    if (!dataKey) throw new SecretBoxError('unknown-key', `Tenant ${tenantId} has no data key`);
    return parseTrusted<object>(this.box.open(dataKey, sealed, boundTo(tenantId, table, rowId)).toString());
  }

  private async dataKey(tx: Tx, tenantId: string): Promise<Buffer | null> {
    return this.unwrapped(await this.repository.wrappedKey(tx, tenantId), tenantId);
  }

  private unwrapped(wrapped: Buffer | null, tenantId: string): Buffer | null {
    if (wrapped === null) return null;
    try {
      return this.box.unwrapKey(wrapped, tenantId);
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      const message = "The tenant's secrets are locked: the platform has no master key that opens their data key.";
      throw new DomainError('damaged', 'SECRETS.LOCKED', message, {}, { cause: error });
    }
  }

  private async createDataKey(tx: Tx, tenantId: string): Promise<Buffer> {
    const wrapped = this.box.wrapKey(this.box.createDataKey(), tenantId);
    await this.repository.addKey(tx, tenantId, wrapped, this.box.currentKeyId);
    // Read back: a concurrent transaction may have been first, and its key is the one that counts.
    const dataKey = await this.dataKey(tx, tenantId);
    if (!dataKey) throw new Error(`The data key of tenant ${tenantId} was not stored`);
    return dataKey;
  }
}

function boundTo(tenantId: string, table: string, rowId: RowId): string {
  return `${tenantId}/${table}/${rowId}`;
}
