import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Role } from '../../../platform/auth/roles';
import { notFound } from '../../../platform/errors/domain-error';
import { firstRow, rows, type Tx } from '../../../platform/persistence/sql';

export interface RoleRow {
  role_id: number;
  role: Role;
  description: string;
}

/** A role with its validity. */
export interface RoleRecord extends RoleRow {
  from_date: Date;
  to_date: Date | number;
}

@Injectable()
export class RolesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The roles themselves; each start brings them up to date. */
  list(): Promise<RoleRecord[]> {
    return rows<RoleRecord>(
      this.dataSource.manager,
      'SELECT role_id, role, description, from_date, to_date FROM roles ORDER BY role_id',
    );
  }

  /** The role with the id; 404 when there is none. */
  async get(roleId: number, tx: Tx = this.dataSource.manager): Promise<RoleRow> {
    const sql = 'SELECT role_id, role, description FROM roles WHERE role_id = $1';
    const role = await firstRow<RoleRow>(tx, sql, [roleId]);
    if (!role) throw notFound('ROLE.NOT_FOUND', `There is no role with id ${roleId}. GET /roles lists them.`);
    return role;
  }
}
