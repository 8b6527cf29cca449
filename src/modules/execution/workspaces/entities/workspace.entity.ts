import { Entity, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../platform/http/resources/record-kind';

/** A workspace; `to_date` is set while it is disabled. */
@Entity('workspaces')
@Unique('uq_workspaces_tenant_id', ['tenant_id', 'workspace_id'])
@Index('uq_workspaces_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_workspaces_list', ['tenant_id', 'workspace_id', 'name'])
@PartOfNameIndex('ix_workspaces_name_part', 'name')
@RecordKind({ code: 'WORKSPACE', label: 'workspace' })
export class Workspace extends TenantColumns {
  @Col.identity() workspace_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
}
