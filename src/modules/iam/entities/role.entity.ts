import { Entity, PrimaryColumn } from 'typeorm';
import { Col, ValidityColumns } from '../../../platform/persistence/columns';

@Entity('roles')
export class RoleRecord extends ValidityColumns {
  @PrimaryColumn({ name: 'role_id', type: 'integer', primaryKeyConstraintName: 'pk_roles' }) roleId: number;
  @Col.text('role') role: string;
  @Col.text('description') description: string;
}
