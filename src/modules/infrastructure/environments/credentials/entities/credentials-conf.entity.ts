import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** Credentials for one cloud provider or object store. */
@Entity('credentials_confs')
@Unique('uq_credentials_confs_tenant_id', ['tenant_id', 'credentials_conf_id'])
@Index('uq_credentials_confs_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_credentials_confs_list', ['tenant_id', 'credentials_conf_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_credentials_confs_name_part', 'name', { where: CURRENT })
@RecordKind({ code: 'CREDENTIALS_CONF', label: 'credentials configuration' })
export class CredentialsConf extends TenantColumns {
  @Col.identity('pk_credentials_confs') credentials_conf_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('CredentialType', { name: 'fk_credentials_confs_credential_type' })
  @Col.int()
  credential_type_id: number;
  /** The values, sealed with the tenant's data key and bound to this row. */
  @Col.bytes() sealed: Buffer;
}
