import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';

const URL_FORM = 'http or https, without user, query and fragment; stored with a trailing slash';

export class DependencyRepositorySelector extends RecordSelectorQuery('dependency_repository') {}

export class DependencyRepositoryListQuery extends PageOrAllQuery {}

export class DependencyRepositorySearchQuery extends DependencyRepositoryListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' })
  dependency_repository_name: string;
}

@Example({ name: 'example-repository', url: 'https://maven.example.org/releases/' })
@About('A Maven repository that jobs may use.')
export class CreateDependencyRepository {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.line({ description: URL_FORM }) url: string;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a dependency repository; at least one. Absent fields keep their values.')
export class UpdateDependencyRepository {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.line({ optional: true, description: URL_FORM }) url?: string;
}

/** Fields of the row that every response with a repository has. */
export class DependencyRepositoryFields {
  @Field.text({ description: 'Name of the dependency repository, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.text({ description: 'Address of the repository, with a trailing slash' }) url: string;
}

@About('A dependency repository: a Maven repository from which jobs of the tenant may load packages.')
export class DependencyRepositoryRead extends IntersectionType(DependencyRepositoryFields, ReadAudit) {
  @Field.id({ description: 'Id of the dependency repository' }) dependency_repository_id: number;
  @Field.uuid() tenant_id: string;
}

@About('A dependency repository as returned by a write. Its id is a decimal string.')
export class DependencyRepositoryWrite extends IntersectionType(DependencyRepositoryFields, WriteAudit) {
  @Field.idText({ description: 'Id of the dependency repository' }) dependency_repository_id: string;
  @Field.uuid() tenant_id: string;
}
