import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** Credentials for one cloud provider or object store. */
@Entity('credentials_confs')
@Unique('uq_credentials_confs_tenant_id', ['tenantId', 'credentialsConfId'])
@Index('uq_credentials_confs_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_credentials_confs_list', ['tenantId', 'credentialsConfId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_credentials_confs_name_part', 'name', { where: CURRENT })
export class CredentialsConf extends TenantColumns {
  @Col.identity('credentials_conf_id', 'pk_credentials_confs') credentialsConfId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @ForeignKey('CredentialType', { name: 'fk_credentials_confs_credential_type' })
  @Col.int('credential_type_id')
  credentialTypeId: number;
  /** The values, sealed with the tenant's data key and bound to this row. */
  @Col.bytes('sealed') sealed: Buffer;
}
