import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { notFound } from '../../../platform/errors/domain-error';
import type { AuthorNames } from '../../../platform/http/answers';
import type { Page, PageRequest } from '../../../platform/http/page';
import { describeSelector, type RecordSelector } from '../../../platform/http/selector';
import { pagedRows } from '../../../platform/persistence/paged-rows';
import {
  Conditions,
  firstRow,
  insertRow,
  NOW,
  type Tx,
  updateRows,
  type Values,
} from '../../../platform/persistence/sql';
import { inTenant, ofTenant } from '../../../platform/persistence/tenant-condition';
import { AUTHOR_JOINS, AUTHOR_NAMES } from '../../../platform/resources/resource-repository';
import { Tenant } from '../entities/tenant.entity';

export type TenantRecordRow = Tenant & AuthorNames;

const COLUMNS = `t.*, ${AUTHOR_NAMES}`;

/** Reads and writes tenants. They belong to none themselves, so no method takes a scope: only PLATFORM ADMIN gets here. */
@Injectable()
export class TenantsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** A page of current tenants, newest first. */
  list(page: PageRequest, partOfName?: string): Promise<Page<TenantRecordRow>> {
    const conditions = current();
    if (partOfName !== undefined) conditions.addContains('t.name', partOfName);
    const order = 't.from_date DESC, t.tenant_id';
    const select = { table: 'tenants', key: 'tenant_id', columns: COLUMNS, joins: AUTHOR_JOINS, conditions, order };
    return pagedRows<TenantRecordRow>(this.dataSource.manager, select, page);
  }

  /** The current tenant that the selector names; 404 when there is none. */
  async get(
    selector: RecordSelector<string>,
    tx: Tx = this.dataSource.manager,
    lock = false,
  ): Promise<TenantRecordRow> {
    const conditions = current();
    if (selector.id !== undefined) conditions.add(ofTenant('t'), selector.id);
    if (selector.name !== undefined) conditions.add('t.name = ?', selector.name);
    const row = await firstRow<TenantRecordRow>(
      tx,
      `SELECT ${COLUMNS} FROM tenants t ${AUTHOR_JOINS} WHERE ${conditions.sql} ${lock ? 'FOR UPDATE OF t' : ''}`,
      conditions.params,
    );
    if (row) return row;
    throw notFound('TENANT.NOT_FOUND', `There is no tenant with ${describeSelector(selector)}.`);
  }

  async insert(tx: Tx, userId: number, values: Values<Tenant>): Promise<TenantRecordRow> {
    const author = { created_by_user_id: userId, modified_by_user_id: userId };
    const { tenant_id } = await insertRow(tx, Tenant, { ...values, ...author });
    return this.get({ id: tenant_id }, tx);
  }

  async update(tx: Tx, userId: number, tenantId: string, values: Values<Tenant>): Promise<void> {
    const change = { ...values, modified_by_user_id: userId, last_update_date: NOW };
    await updateRows(tx, Tenant, change, inTenant({ tenantId }));
  }

  /** Makes the accounts and groups that the tenant owns the platform's. */
  async releaseOwned(tx: Tx, userId: number, tenantId: string): Promise<void> {
    for (const table of ['users', 'groups']) {
      await tx.query(
        `UPDATE ${table} SET owner_tenant_id = NULL, modified_by_user_id = $2, last_update_date = platform_now()
         WHERE ${ofTenant(table, '$1', 'owner_tenant_id')}`,
        [tenantId, userId],
      );
    }
  }

  /** Ends the validity of every role that users and groups hold in the tenant. */
  async endRoles(tx: Tx, userId: number, tenantId: string): Promise<void> {
    for (const table of ['user_roles', 'group_roles']) {
      await tx.query(
        `UPDATE ${table} SET to_date = platform_now(), modified_by_user_id = $2, last_update_date = platform_now()
         WHERE ${ofTenant(table, '$1')} AND to_date = 'infinity'`,
        [tenantId, userId],
      );
    }
  }
}

function current(): Conditions {
  return new Conditions().add(`t.to_date = 'infinity'`);
}
