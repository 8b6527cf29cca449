import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { advisoryLock, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { DependencyRepository } from './entities/dependency-repository.entity';

export type DependencyRepositoryRow = DependencyRepository & AuthorNames;

const GROWTH_LOCK = 7_203_105;

@Injectable()
export class DependencyRepositoriesRepository extends ResourceRepository<
  DependencyRepository,
  DependencyRepositoryRow
> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: DependencyRepository });
  }

  /** URLs of the tenant's list. */
  async urls({ tenantId }: Pick<TenantScope, 'tenantId'>, tx: Tx = this.dataSource.manager): Promise<string[]> {
    const found = await rows<Pick<DependencyRepository, 'url'>>(
      tx,
      `SELECT t.url FROM dependency_repositories t WHERE ${ofTenant('t', '$1')} AND t.to_date = 'infinity'`,
      [tenantId],
    );
    return found.map(({ url }) => url);
  }

  /** The same; nobody else adds to a list before `tx` ends. */
  async urlsToAddTo(scope: TenantScope, tx: Tx): Promise<string[]> {
    await advisoryLock(tx, GROWTH_LOCK);
    return this.urls(scope, tx);
  }
}
