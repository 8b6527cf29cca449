import { Injectable } from '@nestjs/common';
import {
  MetastoreError,
  type MetastoreFault,
  type Table,
  type TableRef,
} from '../../../../libs/metastore-clients/metastore-client';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { areInFiles, columnsOf, locationOf } from '../../../../libs/table-schemas/columns-of';
import { unityTypeName } from '../../../../libs/table-schemas/data-type';
import { StoreTableFiles } from '../../../../libs/table-schemas/store-table-files';
import type { TableColumns } from '../../../../libs/table-schemas/table-columns';
import { ddlOf, withoutSecrets } from '../../../../libs/table-schemas/table-ddl';
import type { TableFiles } from '../../../../libs/table-schemas/table-files';
import { TableSchemaError } from '../../../../libs/table-schemas/table-schema-error';
import { DomainError, invalid, notFound } from '../../../platform/kernel/errors/domain-error';
import { tableResponse } from './browse-responses';
import { catalogOf, schemaOf } from './browsing.service';
import { type Requester, CatalogAccesses, type OpenCatalog } from './catalog-accesses';
import type { BrowseColumn, BrowseColumnsQuery, BrowseTableDetails } from './dto/browse.dto';
import { fullName, partsOf } from './full-name';
import { fromTableFiles } from './metastore-errors';
import { Metastores } from './metastores';
import { openStore, openVended, placeOf } from './secret-stores';

const MAX_PARALLEL_TABLES = 4;
const FILES_TIMEOUT_MS = 30_000;

/** Reads the columns and the DDL of single tables. */
@Injectable()
export class TablesService {
  constructor(
    private readonly catalogs: CatalogAccesses,
    private readonly metastores: Metastores,
    private readonly outbound: OutboundPolicy,
  ) {}

  async columns(requester: Requester, query: BrowseColumnsQuery): Promise<BrowseColumn[]> {
    const open = await this.catalogs.open(requester);
    const { columns } = await this.read(open, { ...schemaOf(open, query), table: query.table_name });
    return columnResponses(open, columns);
  }

  /** Returns a table with what the metastore and the table's own files say of it. */
  async table(requester: Requester, query: BrowseColumnsQuery): Promise<BrowseTableDetails> {
    const open = await this.catalogs.open(requester);
    const { table, columns } = await this.read(open, { ...schemaOf(open, query), table: query.table_name });
    return {
      ...tableResponse(table),
      comment: columns.comment,
      format: columns.kind === 'hive' ? 'hive' : columns.provider,
      storage_location: locationOf(table),
      properties: withoutSecrets(columns.properties),
      columns: columnResponses(open, columns),
    };
  }

  /**
   * Returns the CREATE statement of each table by its name in the request. If several tables are requested, one that no statement
   * can create has an SQL comment with the reason instead.
   */
  async ddl(requester: Requester, names: readonly string[]): Promise<Record<string, string>[]> {
    const open = await this.catalogs.open(requester);
    const requested = names.map((name) => [name, refOf(open, name)] as const);
    const entries: Record<string, string>[] = [];
    for (let from = 0; from < requested.length; from += MAX_PARALLEL_TABLES) {
      const some = requested.slice(from, from + MAX_PARALLEL_TABLES);
      const isSingle = requested.length === 1;
      entries.push(
        ...(await Promise.all(
          some.map(async ([name, ref]) => ({ [name]: await this.ddlOrComment(open, ref, isSingle) })),
        )),
      );
    }
    return entries;
  }

  private async ddlOrComment(open: OpenCatalog, ref: TableRef, isSingle: boolean): Promise<string> {
    try {
      return await this.ddlOf(open, ref);
    } catch (error) {
      if (isSingle || !(error instanceof DomainError) || error.code !== 'TABLE.UNSUPPORTED') throw error;
      return `-- ${error.message.replaceAll(/\s+/g, ' ')}`;
    }
  }

  private async ddlOf(open: OpenCatalog, ref: TableRef): Promise<string> {
    const { table, columns } = await this.read(open, ref);
    try {
      return ddlOf(table, columns);
    } catch (error) {
      throw fromTableFiles(nameOf(ref), error);
    }
  }

  private async read(open: OpenCatalog, ref: TableRef): Promise<{ table: Table; columns: TableColumns }> {
    const table = await this.metastores.call(open.access, (client, signal) => client.readTable(ref, signal));
    if (!table)
      throw notFound(
        'METASTORE.MISSING',
        `There is no table ${nameOf(ref)} in the catalog "${open.access.catalogName}".`,
      );
    try {
      const files = await this.filesOf(open, table);
      return { table, columns: await columnsOf(table, files, AbortSignal.timeout(FILES_TIMEOUT_MS)) };
    } catch (error) {
      throw fromTableFiles(nameOf(ref), error);
    }
  }

  /**
   * Opens the files of a table whose schema is only in its files, with credentials that the metastore vends, or else with the nearest
   * storage secret. Returns null if there are neither, or if the files are not needed.
   */
  private async filesOf(open: OpenCatalog, table: Table): Promise<TableFiles | null> {
    const location = areInFiles(table) ? locationOf(table) : null;
    if (location === null) return null;
    const vended = await this.metastores.call(open.access, (client, signal) =>
      client.vendCredentials(table, signal).catch(asRefusal),
    );
    if (vended !== null && !(vended instanceof MetastoreError)) {
      return openVended(vended, location, await open.s3(), this.outbound);
    }
    const secret = await open.storageSecret();
    if (secret !== null) {
      const place = placeOf(secret.type, location, await open.s3());
      return new StoreTableFiles(openStore(secret, place, this.outbound), place);
    }
    if (vended === null) return null;
    const message = `The columns of this table are only in its own files. The metastore vended no credentials for them (${vended.message}), and the catalog has no object storage secret. Attach one.`;
    throw new TableSchemaError('missing', message);
  }
}

function columnResponses(open: OpenCatalog, { columns }: TableColumns): BrowseColumn[] {
  return columns.map(({ name, typeText, typeName, type, position, partition, comment, nullable }) => ({
    name,
    type_text: typeText,
    type_name: open.kind === 'unity' ? unityTypeName(type) : typeName,
    position,
    type: partition ? 'partition' : 'column',
    comment,
    nullable,
  }));
}

/** Faults of a metastore that refuses or does not support vending credentials; others are failures of the metastore. */
const REFUSALS: ReadonlySet<MetastoreFault> = new Set(['denied', 'missing', 'unsupported', 'failed']);

function asRefusal(error: unknown): MetastoreError {
  if (error instanceof MetastoreError && REFUSALS.has(error.fault)) return error;
  throw error;
}

/** Parses the full name of a table: two parts, or three with the catalog. */
function refOf(open: OpenCatalog, name: string): TableRef {
  const parts = partsOf(name);
  const [table = '', schema = '', catalog] = parts.reverse();
  if (parts.length < 2 || parts.length > (open.unityCatalogs ? 3 : 2)) {
    const meaning = open.unityCatalogs ? 'schema.table or catalog.schema.table' : 'schema.table';
    throw invalid('METASTORE.INVALID_NAME', `The name of a table must be ${meaning}, not "${name}".`);
  }
  return { catalog: catalogOf(open, catalog), schema, table };
}

function nameOf({ catalog, schema, table }: TableRef): string {
  return fullName(catalog, schema, table);
}
