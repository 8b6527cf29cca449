import { Injectable } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { TenantScope } from '../../kernel/auth/principal';
import { conflict } from '../../kernel/errors/domain-error';
import { type EntityClass, keyOf } from '../../kernel/persistence/entity-table';
import { rows, type Tx } from '../../kernel/persistence/sql';
import { ofTenant } from '../../kernel/persistence/tenant-condition';
import { endingWith, findKind, holderRules, keepersOf, kindOf, type RecordKindNames } from './record-kind';

/** Number of records that an error names at most. */
const MAX_NAMED = 20;

interface Holder {
  name: string;
  status: string;
  owns: boolean;
}

type ForeignKey = EntityMetadata['foreignKeys'][number];

/**
 * Finds the records that still need another one, by the foreign keys of the entities, so that a new kind of record needs no
 * change here. Rules that foreign keys cannot express are declared beside the entities (`record-kind.ts`).
 */
@Injectable()
export class References {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Throws a conflict that names the referring records if any current record refers to this one, or if a rule requires it. The
   * caller holds its row lock, for which a new reference must wait.
   */
  async assertUnused(tx: Tx, tenantId: string, entity: EntityClass, id: number | string): Promise<void> {
    await this.assertNotKept(tx, entity, id);
    const { label } = kindOf(entity);
    for (const foreignKey of this.referringTo(entity)) {
      const { entityMetadata: user, columnNames } = foreignKey;
      const kind = findKind(user.target);
      // A record without a name, such as a run, is history and no longer needs this record.
      if (!kind || !columnNames.includes('tenant_id') || !user.findColumnWithPropertyName('name')) continue;
      const key: string = keyOf(user.target as EntityClass);
      const using = await rows<{ name: string }>(
        tx,
        `SELECT t.${key}, t.name FROM ${user.tableName} t
         WHERE ${ofTenant('t', '$1')} AND t.${columnOf(foreignKey)} = $2 AND t.to_date = 'infinity' ORDER BY t.${key} LIMIT ${MAX_NAMED}`,
        [tenantId, id],
      );
      if (using.length === 0) continue;
      const names = using.map(({ name }) => `"${name}"`).join(', ');
      throw inUse(label, kind, names, using);
    }
  }

  /** Throws the conflict of the first rule whose rows prevent the deletion of the record. */
  async assertNotKept(tx: Tx, entity: EntityClass, id: number | string): Promise<void> {
    for (const { table, joins = '', column, condition, columns, ...rule } of keepersOf(entity)) {
      const refers = column === 'tenant_id' ? ofTenant('t', '$1') : `t.${column} = $1`;
      const found = await rows<Record<string, unknown>>(
        tx,
        `SELECT ${columns} FROM ${table} t ${joins} WHERE ${refers} AND ${condition} ORDER BY 1 LIMIT ${MAX_NAMED}`,
        [id],
      );
      if (found.length === 0) continue;
      throw conflict(rule.code, rule.message(found.map(rule.named).join(', ')), rule.details(found));
    }
  }

  /** Closes the rows that end together with the record. The caller holds its row lock, and closes it. */
  async endDependents(tx: Tx, scope: TenantScope, entity: EntityClass, id: number): Promise<void> {
    for (const { table, column } of endingWith(entity)) {
      await tx.query(
        `UPDATE ${table} t SET to_date = platform_now(), last_update_date = platform_now(), modified_by_user_id = $3
         WHERE ${ofTenant('t', '$1')} AND t.${column} = $2 AND t.to_date = 'infinity'`,
        [scope.tenantId, id, scope.userId],
      );
    }
  }

  /** Locks the current holders of a part, so that none changes or starts before the transaction ends. */
  async lockHolders(tx: Tx, scope: TenantScope, entity: EntityClass, id: number): Promise<void> {
    await this.lockedHolders(tx, scope, entity, id);
  }

  /**
   * Throws a conflict that names the holders of a part that are not in one of their free states. All holders are locked first,
   * so that none can start meanwhile.
   */
  async assertFree(tx: Tx, scope: TenantScope, entity: EntityClass, id: number): Promise<void> {
    for (const { rule, holders } of await this.lockedHolders(tx, scope, entity, id)) {
      refuse(
        entity,
        rule.entity,
        holders.filter(({ status }) => !rule.free.includes(status)),
        rule.toFree,
      );
    }
  }

  /**
   * Throws a conflict that names the holders that own something that is reached only through the part, in any state. It would
   * be lost if the part referred to another place.
   */
  async assertDisowned(tx: Tx, scope: TenantScope, entity: EntityClass, id: number): Promise<void> {
    for (const { rule, holders } of await this.lockedHolders(tx, scope, entity, id)) {
      refuse(
        entity,
        rule.entity,
        holders.filter(({ owns }) => owns),
        rule.toDisown,
      );
    }
  }

  /** Throws a conflict that names the holders if the record is a part of any, in any state. */
  async assertReleased(tx: Tx, scope: TenantScope, entity: EntityClass, id: number): Promise<void> {
    for (const { rule, holders } of await this.lockedHolders(tx, scope, entity, id)) {
      refuse(entity, rule.entity, holders, rule.toRelease);
    }
  }

  private async lockedHolders(tx: Tx, scope: TenantScope, part: EntityClass, id: number) {
    const found = [];
    for (const rule of holderRules()) {
      const paths = this.pathsBetween(rule.entity, part);
      if (paths.length === 0) continue;
      const holders = await rows<Holder>(
        tx,
        `SELECT h.${rule.key}, h.name, h.status,
           EXISTS (SELECT 1 FROM ${rule.owns.table} o WHERE o.${rule.owns.column} = h.${rule.key} AND o.to_date = 'infinity') AS owns
         FROM ${rule.table} h
         WHERE ${ofTenant('h', '$1')} AND (${paths.join(' OR ')}) AND h.to_date = 'infinity'
         ORDER BY h.${rule.key} FOR SHARE OF h`,
        [scope.tenantId, id],
      );
      found.push({ rule, holders });
    }
    return found;
  }

  /**
   * Returns the conditions by which a holder `h` refers to the part `$2`: directly, through a record that it refers to, or
   * through a table that links the two.
   */
  private pathsBetween(holder: EntityClass, part: EntityClass): string[] {
    const [from, to] = [this.dataSource.getMetadata(holder), this.dataSource.getMetadata(part)];
    const leadsTo = (target: EntityMetadata) => (key: ForeignKey) => key.referencedEntityMetadata === target;
    const direct = from.foreignKeys.filter(leadsTo(to)).map((key) => `h.${columnOf(key)} = $2`);
    const byRecord = from.foreignKeys.flatMap((first) =>
      first.referencedEntityMetadata.foreignKeys.filter(leadsTo(to)).map((second) =>
        linked(second.entityMetadata.tableName, {
          column: referencedColumnOf(first),
          own: columnOf(first),
          part: columnOf(second),
        }),
      ),
    );
    const byLink = this.referringTo(part).flatMap((second) =>
      isLink(second.entityMetadata)
        ? second.entityMetadata.foreignKeys.filter(leadsTo(from)).map((first) =>
            linked(second.entityMetadata.tableName, {
              column: columnOf(first),
              own: referencedColumnOf(first),
              part: columnOf(second),
            }),
          )
        : [],
    );
    return [...direct, ...byRecord, ...byLink];
  }

  /** Returns the foreign keys that reference the entity, ordered by their tables. */
  private referringTo(entity: EntityClass): ForeignKey[] {
    const target = this.dataSource.getMetadata(entity);
    return this.dataSource.entityMetadatas
      .toSorted((one, other) => (one.tableName < other.tableName ? -1 : 1))
      .flatMap(({ foreignKeys }) => foreignKeys.filter((key) => key.referencedEntityMetadata === target));
  }
}

function linked(table: string, { column, own, part }: { column: string; own: string; part: string }): string {
  return `EXISTS (SELECT 1 FROM ${table} m
    WHERE m.tenant_id = h.tenant_id AND m.${column} = h.${own} AND m.${part} = $2)`;
}

/** True if all columns of a table belong to its foreign keys. */
function isLink({ columns, foreignKeys }: EntityMetadata): boolean {
  const linking = new Set(foreignKeys.flatMap(({ columnNames }) => columnNames));
  return columns.every(({ databaseName }) => linking.has(databaseName));
}

/** Returns the column of a foreign key that is not the tenant. */
function columnOf({ columnNames }: ForeignKey): string {
  return onlyOwn(columnNames);
}

function referencedColumnOf({ referencedColumnNames }: ForeignKey): string {
  return onlyOwn(referencedColumnNames);
}

function onlyOwn(names: readonly string[]): string {
  const [own, ...others] = names.filter((name) => name !== 'tenant_id');
  if (own === undefined || others.length > 0) throw new Error(`Not a foreign key of one column: ${names.join(', ')}`);
  return own;
}

/** @param remedy sentence that says what to do first */
function refuse(part: EntityClass, holder: EntityClass, using: Holder[], remedy: string): void {
  if (using.length === 0) return;
  const named = using.slice(0, MAX_NAMED).map(({ owns: _owns, ...holder }) => holder);
  const names = named.map(({ name, status }) => `"${name}" (${status})`).join(', ');
  throw inUse(kindOf(part).label, kindOf(holder), names, named, ` ${remedy}`);
}

function inUse(label: string, user: RecordKindNames, names: string, using: readonly object[], remedy = ''): Error {
  const users = `${user.label}s`;
  return conflict('RECORD.IN_USE', `The ${label} is used by the ${users} ${names}.${remedy}`, {
    [users.replaceAll(' ', '_')]: using,
  });
}
