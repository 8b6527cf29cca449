import { Check, Entity, PrimaryColumn } from 'typeorm';
import { Col } from '../persistence/columns';

/** The only row, created by a migration, names the installation of this database. */
@Entity('installation')
@Check('ck_installation_single', 'is_single')
export class InstallationRow {
  @PrimaryColumn({ type: 'boolean', default: true, primaryKeyConstraintName: 'pk_installation' }) is_single: boolean;
  @Col.uuid() installation_id: string;
}
