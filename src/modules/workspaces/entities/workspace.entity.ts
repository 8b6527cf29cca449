import { Entity, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** A workspace; `to_date` is set while it is disabled. */
@Entity('workspaces')
@Unique('uq_workspaces_tenant_id', ['tenantId', 'workspaceId'])
@Index('uq_workspaces_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_workspaces_list', ['tenantId', 'workspaceId', 'name'])
@PartOfNameIndex('ix_workspaces_name_part', 'name')
export class Workspace extends TenantColumns {
  @Col.identity('workspace_id') workspaceId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
}
