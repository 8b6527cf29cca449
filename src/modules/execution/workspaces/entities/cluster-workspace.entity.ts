import { Entity, ForeignKey, Index } from 'typeorm';
import { Col, CURRENT, TenantColumns } from '../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../platform/http/resources/record-kind';

/**
 * A workspace that a cluster serves. A cluster without any such row, a closed one included, serves every workspace of
 * its tenant (ADR 0023).
 */
@Entity('cluster_workspaces')
@Index('uq_cluster_workspaces_current', ['cluster_id', 'workspace_id'], { unique: true, where: CURRENT })
@Index('ix_cluster_workspaces_cluster', ['cluster_id'])
@Index('ix_cluster_workspaces_of_cluster', ['cluster_id', 'cluster_workspace_id'], { where: CURRENT })
@Index('ix_cluster_workspaces_of_workspace', ['workspace_id', 'cluster_workspace_id'], { where: CURRENT })
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], {
  name: 'fk_cluster_workspaces_workspace',
})
@ForeignKey('Cluster', ['tenant_id', 'cluster_id'], ['tenant_id', 'cluster_id'], {
  name: 'fk_cluster_workspaces_cluster',
})
@RecordKind({ code: 'CLUSTER_WORKSPACE', label: 'association' })
export class ClusterWorkspace extends TenantColumns {
  @Col.identity() cluster_workspace_id: number;
  @Col.bigint() cluster_id: number;
  @Col.bigint() workspace_id: number;
}
