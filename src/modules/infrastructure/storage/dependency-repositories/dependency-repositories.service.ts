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
  firstOther,
  type NamesDependencies,
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

/** Where jobs of a tenant may load packages from, besides the platform's own Maven repository (ADR 0025). */
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

  /** URLs of the repositories that jobs of the tenant may name. */
  async allowed(scope: Pick<TenantScope, 'tenantId'>, tx?: Tx): Promise<ReadonlySet<string>> {
    return new Set([...(await this.repository.urls(scope, tx)), this.config.agent.mavenRepositoryUrl]);
  }

  /** Throws a 400 for packages and repositories that jobs of the tenant cannot have, as far as a request names any. */
  async check(who: NamesDependencies, scope: TenantScope, given: Dependencies, tx: Tx): Promise<void> {
    checkPackages(who, given.packages);
    if (!given.repositories?.length) return;
    checkRepositories(who, given.repositories, await this.allowed(scope, tx));
  }

  /** 409 for a job that would load packages from a repository which was allowed once. */
  async assertStillAllowed(scope: TenantScope, named: readonly string[], tx: Tx): Promise<void> {
    if (named.length === 0) return;
    const other = firstOther(named, await this.allowed(scope, tx));
    if (other !== undefined) throw notAllowed(conflict, 'JOB', other);
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
    if ((await this.repository.urlsToAddTo(scope, tx)).length >= MAX_REPOSITORIES) {
      throw conflict(
        'DEPENDENCY_REPOSITORY.TOO_MANY',
        `A tenant has at most ${MAX_REPOSITORIES} dependency repositories. Delete one first.`,
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

  /** Always: what names it is refused from then on when it is run. */
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
    'The url must begin with http:// or https:// and have no user, password, query, fragment, comma or blank, and at most 1024 characters.',
  );
}
