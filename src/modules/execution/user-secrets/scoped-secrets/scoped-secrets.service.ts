import { SecretBoxError } from '../../../../../libs/secret-box/secret-box';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, DomainError, invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import { tableOf } from '../../../../platform/kernel/persistence/entity-table';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import type { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import type { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService, type ResourceTypes } from '../../../../platform/http/resources/resource-service';
import { type ReferenceData, SECRET_TYPE_ID, type SecretTypeName } from '../../../foundation/reference-data';
import type { TenantSecretsService } from '../../../foundation/secrets';
import type { CreateSecret, SecretListQuery, UpdateSecret } from './dto/scoped-secret.dto';
import type { ScopedSecret } from './entities/scoped-secret.entity';
import type { ScopedSecretsRepository, SecretRow } from './scoped-secrets.repository';
import { valuesIn, requiredValues } from './secret-values';

/** Per owner. */
const MAX_SECRETS = 1_000;

/** A decrypted secret. Never log or return its values. */
export interface RevealedSecret {
  type: SecretTypeName;
  values: Record<string, string>;
}

/** The types of the secrets of one scope. */
interface SecretTypes extends ResourceTypes {
  entity: ScopedSecret;
  row: SecretRow<ScopedSecret>;
  create: CreateSecret;
  update: UpdateSecret;
  listQuery: SecretListQuery;
}

/**
 * Secrets of one scope: tenants, workspaces, or users in tenants. Their values can be written but never read through the API (ADR
 * 0027).
 */
export abstract class ScopedSecretsService<
  T extends SecretTypes,
  Scope extends TenantScope = TenantScope,
> extends ResourceService<T, Scope> {
  protected constructor(
    transactions: Transactions,
    protected override readonly repository: ScopedSecretsRepository<T['entity'], T['row'], Scope>,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
    private readonly secrets: TenantSecretsService,
  ) {
    super(transactions, repository);
  }

  /**
   * Decrypts the values of a current secret for a client or job of its owner. Never log or return them. Throws a DomainError with a
   * message for users if they cannot be decrypted.
   */
  async reveal(tx: Tx, scope: Scope, id: number): Promise<RevealedSecret> {
    const secret = await this.repository.sealed(tx, scope, id);
    if (!secret) throw this.repository.absent(scope, { id });
    try {
      const { entity } = this.repository;
      const row = this.sealedRow(scope, id);
      const values = await this.secrets.open(tx, scope.tenantId, tableOf(entity), row, secret.sealed);
      return { type: this.typeOf(secret), values: values as Record<string, string> };
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      const { label } = this.repository.kind;
      const message = `The values of the ${label} "${secret.name}" (id ${id}) cannot be decrypted. Update the secret with its values.`;
      throw new DomainError('damaged', 'SECRET.UNREADABLE', message, {}, { cause: error });
    }
  }

  /** Locks the owner until `tx` ends; throws a conflict if its secrets cannot be changed. */
  protected lockOwner(_tx: Tx, _scope: Scope): Promise<void> {
    return Promise.resolve();
  }

  protected filter({ secret_type: type, ...query }: T['listQuery']): ResourceFilter<T['entity']> {
    const id = (query as Readonly<Record<string, unknown>>)[this.repository.idColumn];
    return this.repository.filter({ typeId: type && SECRET_TYPE_ID[type], id });
  }

  protected async columnsOfNew(scope: Scope, body: T['create'], tx: Tx): Promise<Values<T['entity']>> {
    const { name, description, secret_type: type } = body;
    const secret_type_id = SECRET_TYPE_ID[type];
    requireRecord(this.referenceData.current.secretType(secret_type_id), 'secret type', secret_type_id);
    requiredValues(type, body);
    await this.lockOwner(tx, scope);
    if ((await this.repository.countForInsert(tx, scope, MAX_SECRETS)) >= MAX_SECRETS) {
      const { label } = this.repository.kind;
      throw conflict(
        'SECRET.TOO_MANY',
        `There are already ${MAX_SECRETS} ${label}s, which is the maximum. Delete one first.`,
      );
    }
    // The seal is bound to the row's id, so it is written after the row was inserted.
    return columns<T['entity']>({ name, description, secret_type_id, sealed: Buffer.alloc(0) });
  }

  protected override async afterInsert(scope: Scope, body: T['create'], row: T['row'], tx: Tx): Promise<T['row']> {
    const sealed = await this.seal(tx, scope, row, requiredValues(body.secret_type, body));
    return this.repository.update(tx, scope, this.idOf(row), columns<T['entity']>({ sealed }));
  }

  protected async columnsOfChanged(
    scope: Scope,
    row: T['row'],
    body: T['update'],
    tx: Tx,
  ): Promise<Values<T['entity']>> {
    const { name, description, secret_type: type } = body;
    if (row.secret_type_id !== SECRET_TYPE_ID[type]) {
      const { label } = this.repository.kind;
      const text = `The ${label} "${row.name}" is of type ${this.typeOf(row)}, which cannot be changed. Create another secret instead.`;
      throw invalid('SECRET.TYPE_CHANGED', text, { secret_type: this.typeOf(row) });
    }
    const values = valuesIn(type, body);
    assertChanges({ name, description, ...values });
    await this.lockOwner(tx, scope);
    const sealed = values === null ? undefined : await this.seal(tx, scope, row, values);
    return columns<T['entity']>({ name, description, sealed });
  }

  protected async assertDeletable(scope: Scope, row: T['row'], tx: Tx): Promise<void> {
    await this.lockOwner(tx, scope);
    await this.references.assertUnused(tx, scope.tenantId, this.repository.entity, this.idOf(row));
  }

  /** The fields of every read response. */
  protected readCommon(row: T['row']) {
    return { name: row.name, description: row.description, secret_type: this.typeOf(row), ...readAudit(row) };
  }

  /** The fields of every write response. */
  protected writeCommon(row: T['row']) {
    const { name, description, secret_type_id } = row;
    return { name, description, lookup_secret_type_id: idText(secret_type_id), ...writeAudit(row) };
  }

  private typeOf({ secret_type_id: id }: Pick<ScopedSecret, 'secret_type_id'>): SecretTypeName {
    return requireRecord(this.referenceData.secretType(id), 'secret type', id).name;
  }

  private seal(tx: Tx, scope: Scope, row: T['row'], values: Record<string, string>): Promise<Buffer> {
    const { entity } = this.repository;
    return this.secrets.seal(tx, scope.tenantId, tableOf(entity), this.sealedRow(scope, this.idOf(row)), values);
  }

  /** Returns what the values are bound to: the row and its owner, so that moving a row to another owner does not reveal them. */
  private sealedRow(scope: Scope, id: number): number | `${number}/${number}` {
    const owner = this.repository.ownerId(scope);
    return owner === null ? id : `${owner}/${id}`;
  }
}

/** Types the columns that all secret tables share for one of them. */
function columns<E extends ScopedSecret>(values: Values<ScopedSecret>): Values<E> {
  return values as Values<E>;
}
