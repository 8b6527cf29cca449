import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { advisoryLock, rows, type Db, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { DependencyRepository } from './entities/dependency-repository.entity';

export type DependencyRepositoryRow = DependencyRepository & AuthorNames;

const INSERT_LOCK = 7_203_105;

@Injectable()
export class DependencyRepositoriesRepository extends ResourceRepository<
  DependencyRepository,
  DependencyRepositoryRow
> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: DependencyRepository });
  }

  async urls({ tenantId }: Pick<TenantScope, 'tenantId'>, db: Db = this.dataSource.manager): Promise<string[]> {
    const repositories = await rows<Pick<DependencyRepository, 'url'>>(
      db,
      `SELECT t.url FROM dependency_repositories t WHERE ${ofTenant('t', '$1')} AND t.to_date = 'infinity'`,
      [tenantId],
    );
    return repositories.map(({ url }) => url);
  }

  /** Like {@link urls}, and locks out other inserts until `tx` ends. */
  async lockUrls(scope: TenantScope, tx: Tx): Promise<string[]> {
    await advisoryLock(tx, INSERT_LOCK);
    return this.urls(scope, tx);
  }
}
