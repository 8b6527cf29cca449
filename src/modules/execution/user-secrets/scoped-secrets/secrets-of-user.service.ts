import { Injectable } from '@nestjs/common';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { References } from '../../../../platform/http/resources/references';
import { ReferenceData } from '../../../foundation/reference-data';
import { TenantSecretsService } from '../../../foundation/secrets';
import type {
  CreateSecret,
  UserSecretListQuery,
  UserSecretRead,
  UserSecretWrite,
  UpdateSecret,
} from './dto/scoped-secret.dto';
import type { UserSecret } from './entities/scoped-secret.entity';
import { type SecretRow, SecretsOfUserRepository } from './scoped-secrets.repository';
import { ScopedSecretsService } from './scoped-secrets.service';

/** The caller's own secrets in the selected tenant. No role gives access to those of others. */
@Injectable()
export class SecretsOfUserService extends ScopedSecretsService<{
  entity: UserSecret;
  row: SecretRow<UserSecret>;
  create: CreateSecret;
  update: UpdateSecret;
  read: UserSecretRead;
  write: UserSecretWrite;
  listQuery: UserSecretListQuery;
}> {
  constructor(
    transactions: Transactions,
    repository: SecretsOfUserRepository,
    referenceData: ReferenceData,
    references: References,
    secrets: TenantSecretsService,
  ) {
    super(transactions, repository, referenceData, references, secrets);
  }

  protected read(row: SecretRow<UserSecret>): UserSecretRead {
    return { user_secret_id: row.user_secret_id, ...this.readCommon(row) };
  }

  protected write(row: SecretRow<UserSecret>): UserSecretWrite {
    return { user_secret_id: idText(row.user_secret_id), ...this.writeCommon(row) };
  }
}
