import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** A network at one cloud provider; keys of other providers stay null. */
@Entity('network_confs')
@Unique('uq_network_confs_tenant_id', ['tenant_id', 'network_conf_id'])
@Index('uq_network_confs_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_network_confs_list', ['tenant_id', 'network_conf_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_network_confs_name_part', 'name', { where: CURRENT })
@RecordKind({ code: 'NETWORK_CONF', label: 'network configuration' })
export class NetworkConf extends TenantColumns {
  @Col.identity('pk_network_confs') network_conf_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_network_confs_cloud_provider' })
  @Col.int()
  cloud_provider_id: number;
  @Col.text({ nullable: true }) network_project_id: string | null;
  @Col.text({ nullable: true }) network_name: string | null;
  @Col.texts({ default: () => `'{}'` }) network_tags: string[];
  @Col.text({ nullable: true }) subnet: string | null;
  @ForeignKey('AvailabilityZone', { name: 'fk_network_confs_availability_zone' })
  @Col.int({ nullable: true })
  availability_zone_id: number | null;
  @Col.text({ nullable: true }) bridge: string | null;
  @Col.text({ nullable: true }) model: string | null;
}
