import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Role } from '../../platform/auth/roles';
import { notFound } from '../../platform/errors/domain-error';
import { firstRow, type Tx } from '../../platform/persistence/sql';

export interface RoleRow {
  role_id: number;
  role: Role;
  description: string;
}

@Injectable()
export class RolesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The role with the id; 404 when there is none. */
  async get(roleId: number, tx: Tx = this.dataSource.manager): Promise<RoleRow> {
    const sql = 'SELECT role_id, role, description FROM roles WHERE role_id = $1';
    const role = await firstRow<RoleRow>(tx, sql, [roleId]);
    if (!role) throw notFound('ROLE.NOT_FOUND', `There is no role with id ${roleId}. GET /roles lists them.`);
    return role;
  }
}
