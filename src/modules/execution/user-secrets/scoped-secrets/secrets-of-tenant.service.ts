import { Injectable } from '@nestjs/common';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { References } from '../../../../platform/http/resources/references';
import { ReferenceData } from '../../../foundation/reference-data';
import { TenantSecretsService } from '../../../foundation/secrets';
import type {
  CreateSecret,
  TenantSecretListQuery,
  TenantSecretRead,
  TenantSecretWrite,
  UpdateSecret,
} from './dto/scoped-secret.dto';
import type { TenantSecret } from './entities/scoped-secret.entity';
import { SecretsOfTenantRepository, type TenantSecretRow } from './scoped-secrets.repository';
import { ScopedSecretsService } from './scoped-secrets.service';

@Injectable()
export class SecretsOfTenantService extends ScopedSecretsService<{
  entity: TenantSecret;
  row: TenantSecretRow;
  create: CreateSecret;
  update: UpdateSecret;
  read: TenantSecretRead;
  write: TenantSecretWrite;
  listQuery: TenantSecretListQuery;
}> {
  constructor(
    transactions: Transactions,
    repository: SecretsOfTenantRepository,
    referenceData: ReferenceData,
    references: References,
    secrets: TenantSecretsService,
  ) {
    super(transactions, repository, referenceData, references, secrets);
  }

  protected read(row: TenantSecretRow): TenantSecretRead {
    const { tenant_secret_id, tenant_id, tenant_name: name, tenant_description: description } = row;
    return { tenant_secret_id, ...this.readCommon(row), tenant: { tenant_id, name, description } };
  }

  protected write(row: TenantSecretRow): TenantSecretWrite {
    const { tenant_secret_id, tenant_id } = row;
    return { tenant_secret_id: idText(tenant_secret_id), ...this.writeCommon(row), tenant_id };
  }
}
