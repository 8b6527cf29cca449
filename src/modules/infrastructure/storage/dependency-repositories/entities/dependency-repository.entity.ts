import { Entity, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** A Maven repository from which jobs of the tenant may load packages. */
@Entity('dependency_repositories')
@Unique('uq_dependency_repositories_tenant_id', ['tenant_id', 'dependency_repository_id'])
@Index('uq_dependency_repositories_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@Index('uq_dependency_repositories_url', ['tenant_id', 'url'], { unique: true, where: CURRENT })
@ListIndex('ix_dependency_repositories_list', ['tenant_id', 'dependency_repository_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_dependency_repositories_name_part', 'name', { where: CURRENT })
@RecordKind({ code: 'DEPENDENCY_REPOSITORY', label: 'dependency repository' })
export class DependencyRepository extends TenantColumns {
  @Col.identity('pk_dependency_repositories') dependency_repository_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  /** Normalized by `repositoryUrl`. */
  @Col.text() url: string;
}
