import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../platform/http/answers';
import { Field } from '../../../platform/http/fields';
import { UuidSelectorQuery } from '../../../platform/http/selector';
import { TenantSummary } from './account.dto';

export class TenantSelector extends UuidSelectorQuery('tenant') {}

export class CreateTenant {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

export class UpdateTenant {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
}

export class TenantRead extends IntersectionType(TenantSummary, ReadAudit) {}

export class TenantWrite extends IntersectionType(TenantSummary, WriteAudit) {}
