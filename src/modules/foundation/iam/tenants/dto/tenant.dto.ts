import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { UuidSelectorQuery } from '../../../../../platform/kernel/dto/selector';

@About('A tenant that a user can select.')
export class TenantSummary {
  @Field.uuid({ description: 'Id of the tenant, a UUID. It never changes' }) tenant_id: string;
  @Field.text({ description: 'Name of the tenant, unique on the platform' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class TenantSearchQuery extends PageQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) tenant_name: string;
}

export class TenantSelector extends UuidSelectorQuery('tenant') {}

@Example({ name: 'example-tenant', description: 'Made by an example' })
@About('An organization whose records no other tenant can see.')
export class CreateTenant {
  @Field.name() name: string;
  @Field.description() description?: string | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a tenant; at least one. Absent fields keep their values.')
export class UpdateTenant {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
}

@About('A tenant: an organization whose records no other tenant can see.')
export class TenantRead extends IntersectionType(TenantSummary, ReadAudit) {}

@About('A tenant as returned by a write.')
export class TenantWrite extends IntersectionType(TenantSummary, WriteAudit) {}
