import { Injectable } from '@nestjs/common';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { MetastoreCatalogsService } from '../../../infrastructure/metastores';
import { ReferenceData } from '../../../foundation/reference-data';
import { AttachedSecretsService } from './attached-secrets.service';
import {
  type AttachedSecret,
  type CatalogSecretRow,
  type LockedSecret,
  UserCatalogSecretsRepository,
  type OwnScope,
} from './catalog-secrets.repository';
import type {
  RequestedSecrets,
  CatalogSecretUserRead,
  CatalogSecretUserWrite,
  SecretRefUser,
  UserCatalogSecretListQuery,
} from './dto/catalog-secret.dto';
import type { UserCatalogSecret } from './entities/catalog-secret.entity';

/**
 * Attachments of user secrets to catalogs. Administrators can list and detach them; only the user can attach and change
 * them.
 */
@Injectable()
export class UserCatalogSecretsService extends AttachedSecretsService<
  UserCatalogSecret,
  { read: CatalogSecretUserRead; write: CatalogSecretUserWrite; listQuery: UserCatalogSecretListQuery },
  OwnScope
> {
  constructor(
    transactions: Transactions,
    repository: UserCatalogSecretsRepository,
    catalogs: MetastoreCatalogsService,
    referenceData: ReferenceData,
  ) {
    super(transactions, repository, catalogs, referenceData);
  }

  protected override filter(query: UserCatalogSecretListQuery): ResourceFilter<UserCatalogSecret> {
    const common = super.filter(query);
    return (conditions) => common(conditions.only('user_id', query.user_id));
  }

  protected override async columnsOfChanged(
    scope: OwnScope,
    row: CatalogSecretRow<UserCatalogSecret>,
    secrets: RequestedSecrets,
    tx: Tx,
  ): Promise<Values<UserCatalogSecret>> {
    if (row.user_id !== scope.userId) {
      throw this.repository.absent(scope, { id: row.metastore_catalog_secret_user_id });
    }
    return super.columnsOfChanged(scope, row, secrets, tx);
  }

  /** The repository locks only secrets of the caller. */
  protected async ownerOf(
    _tx: Tx,
    { userId }: OwnScope,
    _secrets: readonly LockedSecret[],
    before: CatalogSecretRow<UserCatalogSecret> | null,
  ): Promise<Values<UserCatalogSecret>> {
    return { user_id: before?.user_id ?? userId };
  }

  protected read(row: CatalogSecretRow<UserCatalogSecret>): CatalogSecretUserRead {
    const { metastore_catalog_secret_user_id } = row;
    return {
      metastore_catalog_secret_user_id,
      ...this.readCommon(row),
      metastore_secrets_user: this.ref(row.metastore_secret),
      object_storage_secrets_user: this.ref(row.storage_secret),
    };
  }

  protected write(row: CatalogSecretRow<UserCatalogSecret>): CatalogSecretUserWrite {
    return {
      metastore_catalog_secret_user_id: idText(row.metastore_catalog_secret_user_id),
      ...this.writeCommon(row),
      metastore_secrets_user_id: idText(row.metastore_secret_id),
      object_storage_secrets_user_id: idText(row.storage_secret_id),
    };
  }

  private ref(secret: AttachedSecret | null): SecretRefUser | null {
    return secret && { secrets_user_id: secret.id, ...this.secretRef(secret) };
  }
}
