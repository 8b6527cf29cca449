import { Injectable } from '@nestjs/common';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { SecretBoxError } from '../../../../../libs/secret-box/secret-box';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { DomainError, notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { assertUrlAllowed } from '../../../../platform/kernel/outbound/allowed-url';
import { tableOf } from '../../../../platform/kernel/persistence/entity-table';
import type { Db, Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { requestedProviderId, type CredentialTypeInfo, ReferenceData } from '../../../foundation/reference-data';
import { TenantSecretsService } from '../../../foundation/secrets';
import { ENDPOINT_REFUSED, opensAnotherAccount, parseCredentials } from './credential-content';
import type { RevealedCredentials } from './credentials-confs';
import { type CredentialsConfRow, CredentialsConfsRepository } from './credentials-confs.repository';
import type {
  CreateCredentialsConf,
  CredentialsConfListQuery,
  CredentialsConfRead,
  CredentialsConfWrite,
  UpdateCredentialsConf,
} from './dto/credentials-conf.dto';
import { CredentialsConf } from './entities/credentials-conf.entity';

/** Manages credentials of providers and object stores. Their values are write-only. */
@Injectable()
export class CredentialsConfsService extends ResourceService<{
  entity: CredentialsConf;
  row: CredentialsConfRow;
  create: CreateCredentialsConf;
  update: UpdateCredentialsConf;
  read: CredentialsConfRead;
  write: CredentialsConfWrite;
  listQuery: CredentialsConfListQuery;
}> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: CredentialsConfsRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
    private readonly secrets: TenantSecretsService,
    private readonly outbound: OutboundPolicy,
  ) {
    super(transactions, repository);
  }

  /**
   * Decrypts the values for a driver or client of the provider. The caller must not log or return them. Throws a
   * DomainError with a reason for users if they cannot be decrypted.
   */
  async reveal(db: Db, tenantId: string, id: number): Promise<RevealedCredentials> {
    const row = await this.repository.findWithSealed(db, tenantId, id);
    if (!row) throw notFound('CREDENTIALS_CONF.NOT_FOUND', `There is no credentials configuration with id ${id}.`);
    try {
      const values = await this.secrets.open(db, tenantId, tableOf(CredentialsConf), id, row.sealed);
      return { credentialTypeId: row.credential_type_id, values: values as Record<string, string> };
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      const message = `The values of the credentials configuration "${row.name}" (id ${id}) cannot be decrypted. Update it with its credentials again.`;
      throw new DomainError('damaged', 'CREDENTIALS_CONF.UNREADABLE', message, {}, { cause: error });
    }
  }

  protected filter(query: CredentialsConfListQuery): ResourceFilter<CredentialsConf> {
    return this.repository.ofProvider(requestedProviderId(query.cloud_provider));
  }

  protected async columnsOfNew(_scope: TenantScope, body: CreateCredentialsConf): Promise<Values<CredentialsConf>> {
    const { name, description, credential_type_id } = body;
    requireRecord(this.referenceData.current.credentialType(credential_type_id), 'credential type', credential_type_id);
    this.acceptedValues(credential_type_id, body.base64_encoded_credentials.encoded);
    // The seal is bound to the row's id, so `afterInsert` sets it.
    return { name, description, credential_type_id, sealed: Buffer.alloc(0) };
  }

  protected override async afterInsert(
    scope: TenantScope,
    body: CreateCredentialsConf,
    row: CredentialsConfRow,
    tx: Tx,
  ): Promise<CredentialsConfRow> {
    const sealed = await this.seal(tx, scope, row, body.base64_encoded_credentials.encoded);
    return this.repository.update(tx, scope, row.credentials_conf_id, { sealed });
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: CredentialsConfRow,
    body: UpdateCredentialsConf,
    tx: Tx,
  ): Promise<Values<CredentialsConf>> {
    const { name, description, base64_encoded_credentials: credentials } = body;
    if (credentials === undefined) return { name, description };
    await this.assertSameAccount(scope, row, credentials.encoded, tx);
    return { name, description, sealed: await this.seal(tx, scope, row, credentials.encoded) };
  }

  protected async assertDeletable(scope: TenantScope, row: CredentialsConfRow, tx: Tx): Promise<void> {
    await this.references.assertUnused(tx, scope.tenantId, CredentialsConf, row.credentials_conf_id);
  }

  /** Accepts new secrets of the same account, since secrets expire. Refuses another account while nodes exist. */
  private async assertSameAccount(
    { tenantId }: TenantScope,
    { credentials_conf_id: id, credential_type_id: typeId }: CredentialsConfRow,
    encoded: string,
    tx: Tx,
  ): Promise<void> {
    const values = this.acceptedValues(typeId, encoded);
    const before = await this.reveal(tx, tenantId, id).catch((error: unknown) => {
      // Credentials that cannot be decrypted may always be replaced.
      if (error instanceof DomainError && error.kind === 'damaged') return null;
      throw error;
    });
    if (before && opensAnotherAccount(typeId, values, before.values))
      await this.references.assertNotKept(tx, CredentialsConf, id);
  }

  protected read(row: CredentialsConfRow): CredentialsConfRead {
    return {
      credentials_conf_id: row.credentials_conf_id,
      credentials_conf_name: row.name,
      description: row.description,
      credential_type: this.credentialType(row.credential_type_id),
      tenant_id: row.tenant_id,
      ...readAudit(row),
    };
  }

  protected write(row: CredentialsConfRow): CredentialsConfWrite {
    return {
      credentials_conf_id: idText(row.credentials_conf_id),
      name: row.name,
      description: row.description,
      credential_type_id: idText(row.credential_type_id),
      tenant_id: row.tenant_id,
      ...writeAudit(row),
    };
  }

  private seal(tx: Tx, scope: TenantScope, row: CredentialsConfRow, encoded: string): Promise<Buffer> {
    const values = this.acceptedValues(row.credential_type_id, encoded);
    return this.secrets.seal(tx, scope.tenantId, tableOf(CredentialsConf), row.credentials_conf_id, values);
  }

  private acceptedValues(credentialTypeId: number, encoded: string): Record<string, string> {
    const values = parseCredentials(credentialTypeId, encoded);
    const endpoint = values['S3_ENDPOINT'];
    if (endpoint !== undefined) assertUrlAllowed(this.outbound, endpoint, ENDPOINT_REFUSED);
    return values;
  }

  private credentialType(id: number): CredentialTypeInfo {
    return requireRecord(this.referenceData.credentialType(id), 'credential type', id);
  }
}
