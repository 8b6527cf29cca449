import type { TenantScope } from '../../kernel/auth/principal';
import type { Message } from '../../kernel/dto/response-fields';
import { assertChanges } from '../changes';
import type { Page, PageRequest } from '../../kernel/dto/page';
import type { RecordSelector } from '../../kernel/dto/selector';
import type { TenantColumns } from '../../kernel/persistence/columns';
import type { Tx, Values } from '../../kernel/persistence/sql';
import type { Transactions } from '../../kernel/persistence/transactions';
import type { ResourceFilter, ResourceRepository } from './resource-repository';

/** The types of one kind of resource by their use. */
export interface ResourceTypes {
  entity: TenantColumns;
  row: { name: string };
  create: object;
  update: object;
  read: object;
  write: object;
  listQuery: PageRequest;
}

/**
 * Implements the six operations that infrastructure records share. A domain adds the rendering of rows, the rules of create,
 * update and delete, and the filters of lists. The scope is the tenant, or narrower.
 */
export abstract class ResourceService<T extends ResourceTypes, Scope extends TenantScope = TenantScope> {
  protected constructor(
    protected readonly transactions: Transactions,
    protected readonly repository: ResourceRepository<T['entity'], T['row'], Scope>,
  ) {}

  async list(scope: Scope, query: T['listQuery'], partOfName?: string): Promise<Page<T['read']>> {
    const page = await this.repository.list(scope, query, this.filter(query), partOfName);
    return { ...page, data: page.data.map((row) => this.read(row)) };
  }

  async get(scope: Scope, selector: RecordSelector): Promise<T['read']> {
    return this.read(await this.repository.get(scope, selector));
  }

  /** Returns a record for a new reference to it. It can be neither changed nor deleted before `tx` ends. */
  async getRow(scope: Scope, selector: RecordSelector, tx: Tx): Promise<T['row']> {
    return this.repository.get(scope, selector, tx, 'share');
  }

  async create(scope: Scope, body: T['create']): Promise<T['write']> {
    return this.transactions.run((tx) => this.createWithin(tx, scope, body));
  }

  async update(scope: Scope, selector: RecordSelector, body: T['update']): Promise<T['write']> {
    assertChanges(body);
    return this.transactions.run(async (tx) => {
      const row = await this.lock(scope, selector, tx);
      const values = await this.columnsOfChanged(scope, row, body, tx);
      return this.write(await this.repository.update(tx, scope, this.idOf(row), values));
    });
  }

  async delete(scope: Scope, selector: RecordSelector): Promise<Message> {
    return this.transactions.run(async (tx) => {
      const row = await this.lock(scope, selector, tx);
      await this.assertDeletable(scope, row, tx);
      await this.beforeClose(scope, row, tx);
      await this.repository.close(tx, scope, this.idOf(row));
      const label = this.repository.kind.label;
      return { message: `The ${label} "${row.name}" (id ${this.idOf(row)}) is deleted.` };
    });
  }

  /**
   * Locks the clusters that refer to the record, for kinds that clusters use. Clusters are locked before the record, as a
   * change of a cluster locks it before its parts; otherwise the two would deadlock.
   */
  protected lockUsers?(tx: Tx, scope: Scope, id: number): Promise<void>;

  /** Returns the conditions for the filters of a list or search. */
  protected abstract filter(query: T['listQuery']): ResourceFilter<T['entity']>;
  /** Checks a create request and returns the columns to insert. */
  protected abstract columnsOfNew(scope: Scope, body: T['create'], tx: Tx): Promise<Values<T['entity']>>;
  /** Checks an update request against the locked record and returns the columns to change. */
  protected abstract columnsOfChanged(
    scope: Scope,
    row: T['row'],
    body: T['update'],
    tx: Tx,
  ): Promise<Values<T['entity']>>;
  /** Throws a conflict that names what still uses the record. */
  protected abstract assertDeletable(scope: Scope, row: T['row'], tx: Tx): Promise<void>;
  /** Converts a row to the response of reads. */
  protected abstract read(row: T['row']): T['read'];
  /** Converts a row to the response of writes. */
  protected abstract write(row: T['row']): T['write'];

  /** As `create`, within a transaction of the caller. */
  protected async createWithin(tx: Tx, scope: Scope, body: T['create']): Promise<T['write']> {
    const row = await this.repository.insert(tx, scope, await this.columnsOfNew(scope, body, tx));
    return this.write(await this.afterInsert(scope, body, row, tx));
  }

  /** Completes a record that needs its id first; returns the row to render. */
  protected afterInsert(_scope: Scope, _body: T['create'], row: T['row'], _tx: Tx): Promise<T['row']> {
    return Promise.resolve(row);
  }

  /** Closes dependent rows of a record that is about to be deleted. */
  protected beforeClose(_scope: Scope, _row: T['row'], _tx: Tx): Promise<void> {
    return Promise.resolve();
  }

  /** Locks the record for a change. Throws a 404 if the tenant has none. */
  private async lock(scope: Scope, selector: RecordSelector, tx: Tx): Promise<T['row']> {
    if (this.lockUsers) {
      const id = selector.id ?? (await this.idNow(scope, selector, tx));
      if (id !== null) await this.lockUsers(tx, scope, id);
    }
    return this.repository.get(scope, selector, tx, true);
  }

  private async idNow(scope: Scope, selector: RecordSelector, tx: Tx): Promise<number | null> {
    const row = await this.repository.find(scope, selector, tx);
    return row && this.idOf(row);
  }

  protected idOf(row: T['row']): number {
    return Number((row as Record<string, unknown>)[this.repository.idColumn]);
  }
}
