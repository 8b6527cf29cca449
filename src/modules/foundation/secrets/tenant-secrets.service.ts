import { Injectable } from '@nestjs/common';
import { parseTrusted } from '../../../../libs/json/parse-json';
import { SecretBox, SecretBoxError } from '../../../../libs/secret-box/secret-box';
import { Config } from '../../../config/config';
import { DomainError } from '../../../platform/kernel/errors/domain-error';
import type { Db, Tx } from '../../../platform/kernel/persistence/sql';
import { TenantSecretsRepository } from './tenant-secrets.repository';

type RowId = number | `${number}/${number}`;

/**
 * Encrypts secrets with the tenant's data key. A sealed secret opens only for the same tenant, table and row. A row is
 * identified by its id, or by owner and id (`7/41`). Sealing and opening throw a `damaged` error if the master key of
 * the data key is missing.
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

  /** Encrypts a JSON object. Creates the tenant's data key with the first secret. */
  async seal(tx: Tx, tenantId: string, table: string, rowId: RowId, value: object): Promise<Buffer> {
    const dataKey = (await this.dataKey(tx, tenantId)) ?? (await this.createDataKey(tx, tenantId));
    return this.box.seal(dataKey, Buffer.from(JSON.stringify(value)), boundTo(tenantId, table, rowId));
  }

  /** Decrypts a sealed secret. Throws `SecretBoxError` if it was tampered with or belongs to another row. */
  async open(db: Db, tenantId: string, table: string, rowId: RowId, sealed: Buffer): Promise<object> {
    return this.openWith(await this.repository.wrappedKey(db, tenantId), tenantId, table, rowId, sealed);
  }

  /** Like {@link open}, for a caller that has already read the tenant's wrapped data key. */
  openWith(wrapped: Buffer | null, tenantId: string, table: string, rowId: RowId, sealed: Buffer): object {
    const dataKey = this.unwrap(wrapped, tenantId);
    if (!dataKey) throw new SecretBoxError('unknown-key', `Tenant ${tenantId} has no data key`);
    return parseTrusted<object>(this.box.open(dataKey, sealed, boundTo(tenantId, table, rowId)).toString());
  }

  private async dataKey(tx: Tx, tenantId: string): Promise<Buffer | null> {
    return this.unwrap(await this.repository.wrappedKey(tx, tenantId), tenantId);
  }

  private unwrap(wrapped: Buffer | null, tenantId: string): Buffer | null {
    if (wrapped === null) return null;
    try {
      return this.box.unwrapKey(wrapped, tenantId);
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      const message =
        "The tenant's secrets cannot be decrypted: the master key of the tenant is not configured. Ask an operator to restore it.";
      throw new DomainError('damaged', 'SECRETS.LOCKED', message, {}, { cause: error });
    }
  }

  private async createDataKey(tx: Tx, tenantId: string): Promise<Buffer> {
    const wrapped = this.box.wrapKey(this.box.createDataKey(), tenantId);
    await this.repository.addKey(tx, tenantId, wrapped, this.box.currentKeyId);
    // Read the key back: if a concurrent transaction was first, its key counts.
    const dataKey = await this.dataKey(tx, tenantId);
    if (!dataKey) throw new Error(`The data key of tenant ${tenantId} was not stored`);
    return dataKey;
  }
}

function boundTo(tenantId: string, table: string, rowId: RowId): string {
  return `${tenantId}/${table}/${rowId}`;
}
