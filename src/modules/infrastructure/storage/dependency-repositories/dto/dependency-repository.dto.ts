import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';

const URL_FORM = 'http or https, without user, query and fragment; stored with a trailing slash';

export class DependencyRepositorySelector extends RecordSelectorQuery('dependency_repository') {}

export class DependencyRepositoryListQuery extends PageOrAllQuery {}

export class DependencyRepositorySearchQuery extends DependencyRepositoryListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' })
  dependency_repository_name: string;
}

@Example({ name: 'example-repository', url: 'https://maven.example.org/releases/' })
export class CreateDependencyRepository {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.line({ description: URL_FORM }) url: string;
}

@Example({ description: 'Changed by an example' })
export class UpdateDependencyRepository {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.line({ optional: true, description: URL_FORM }) url?: string;
}

/** Fields of the row that every response with a repository has. */
export class DependencyRepositoryFields {
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.text() url: string;
}

export class DependencyRepositoryRead extends IntersectionType(DependencyRepositoryFields, ReadAudit) {
  @Field.id() dependency_repository_id: number;
  @Field.uuid() tenant_id: string;
}

export class DependencyRepositoryWrite extends IntersectionType(DependencyRepositoryFields, WriteAudit) {
  @Field.idText() dependency_repository_id: string;
  @Field.uuid() tenant_id: string;
}
