import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, invalid } from '../../../../platform/kernel/errors/domain-error';
import { fieldsOf, idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import {
  checkPackages,
  checkRepositories,
  type Dependencies,
  firstNotAllowed,
  type DependencyOwner,
  notAllowed,
  repositoryUrl,
} from './dependencies';
import { DependencyRepositoriesRepository, type DependencyRepositoryRow } from './dependency-repositories.repository';
import {
  type CreateDependencyRepository,
  DependencyRepositoryFields,
  type DependencyRepositoryListQuery,
  type DependencyRepositoryRead,
  type DependencyRepositoryWrite,
  type UpdateDependencyRepository,
} from './dto/dependency-repository.dto';
import type { DependencyRepository } from './entities/dependency-repository.entity';

const MAX_REPOSITORIES = 100;

/** Manages the repositories that jobs of a tenant may use besides the platform's Maven repository (ADR 0025). */
@Injectable()
export class DependencyRepositoriesService extends ResourceService<{
  entity: DependencyRepository;
  row: DependencyRepositoryRow;
  create: CreateDependencyRepository;
  update: UpdateDependencyRepository;
  read: DependencyRepositoryRead;
  write: DependencyRepositoryWrite;
  listQuery: DependencyRepositoryListQuery;
}> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: DependencyRepositoriesRepository,
    private readonly config: Config,
  ) {
    super(transactions, repository);
  }

  /** Returns the URLs of the repositories that jobs of the tenant may use. */
  async allowed(scope: Pick<TenantScope, 'tenantId'>, tx?: Tx): Promise<ReadonlySet<string>> {
    return new Set([...(await this.repository.urls(scope, tx)), this.config.agent.mavenRepositoryUrl]);
  }

  /** Throws 400 for an invalid package or a repository that is not allowed. */
  async check(owner: DependencyOwner, scope: TenantScope, dependencies: Dependencies, tx: Tx): Promise<void> {
    checkPackages(owner, dependencies.packages);
    if (!dependencies.repositories?.length) return;
    checkRepositories(owner, dependencies.repositories, await this.allowed(scope, tx));
  }

  /** Throws 409 if a job would use a repository that is no longer allowed. */
  async assertStillAllowed(scope: TenantScope, repositories: readonly string[], tx: Tx): Promise<void> {
    if (repositories.length === 0) return;
    const repository = firstNotAllowed(repositories, await this.allowed(scope, tx));
    if (repository !== undefined) throw notAllowed(conflict, 'JOB', repository);
  }

  protected filter(): ResourceFilter<DependencyRepository> {
    return () => undefined;
  }

  protected async columnsOfNew(
    scope: TenantScope,
    { name, description, url }: CreateDependencyRepository,
    tx: Tx,
  ): Promise<Values<DependencyRepository>> {
    const columns = { name, description, url: checkedUrl(url) };
    if ((await this.repository.lockUrls(scope, tx)).length >= MAX_REPOSITORIES) {
      throw conflict(
        'DEPENDENCY_REPOSITORY.TOO_MANY',
        `A tenant can have at most ${MAX_REPOSITORIES} dependency repositories. Delete one first.`,
      );
    }
    return columns;
  }

  protected async columnsOfChanged(
    _scope: TenantScope,
    _row: DependencyRepositoryRow,
    { name, description, url }: UpdateDependencyRepository,
  ): Promise<Values<DependencyRepository>> {
    return { name, description, url: url === undefined ? undefined : checkedUrl(url) };
  }

  /** A repository can always be deleted. Jobs that use it are then refused when they start. */
  protected assertDeletable(): Promise<void> {
    return Promise.resolve();
  }

  protected read(row: DependencyRepositoryRow): DependencyRepositoryRead {
    return {
      dependency_repository_id: row.dependency_repository_id,
      ...fieldsOf(DependencyRepositoryFields, row),
      tenant_id: row.tenant_id,
      ...readAudit(row),
    };
  }

  protected write(row: DependencyRepositoryRow): DependencyRepositoryWrite {
    return {
      dependency_repository_id: idText(row.dependency_repository_id),
      ...fieldsOf(DependencyRepositoryFields, row),
      tenant_id: row.tenant_id,
      ...writeAudit(row),
    };
  }
}

function checkedUrl(text: string): string {
  const url = repositoryUrl(text);
  if (url !== null) return url;
  throw invalid(
    'DEPENDENCY_REPOSITORY.INVALID_URL',
    'url must begin with http:// or https:// and have at most 1024 characters, without user, password, query, fragment, comma and white space.',
  );
}
