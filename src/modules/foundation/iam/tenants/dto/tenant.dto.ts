import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { UuidSelectorQuery } from '../../../../../platform/kernel/dto/selector';

export class TenantSummary {
  @Field.uuid() tenant_id: string;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class TenantSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) tenant_name: string;
}

export class TenantSelector extends UuidSelectorQuery('tenant') {}

@Example({ name: 'example-tenant', description: 'Made by an example' })
export class CreateTenant {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@Example({ description: 'Changed by an example' })
export class UpdateTenant {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
}

export class TenantRead extends IntersectionType(TenantSummary, ReadAudit) {}

export class TenantWrite extends IntersectionType(TenantSummary, WriteAudit) {}
