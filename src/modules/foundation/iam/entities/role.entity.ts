import { Entity, PrimaryColumn } from 'typeorm';
import type { Role } from '../../../../platform/kernel/auth/roles';
import { Col, ValidityColumns } from '../../../../platform/kernel/persistence/columns';

@Entity('roles')
export class RoleRecord extends ValidityColumns {
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_roles' }) role_id: number;
  @Col.text() role: Role;
  @Col.text() description: string;
}
