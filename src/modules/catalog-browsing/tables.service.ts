import { Injectable } from '@nestjs/common';
import { type Table, type TableRef } from '../../../libs/metastore-clients/metastore-client';
import { OutboundPolicy } from '../../../libs/outbound-policy/outbound-policy';
import { columnsOf, kindOf, locationOf } from '../../../libs/table-schemas/columns-of';
import { StoreTableFiles } from '../../../libs/table-schemas/store-table-files';
import type { TableColumns } from '../../../libs/table-schemas/table-columns';
import { ddlOf } from '../../../libs/table-schemas/table-ddl';
import type { TableFiles } from '../../../libs/table-schemas/table-files';
import { DomainError, invalid, notFound } from '../../platform/errors/domain-error';
import { catalogOf, schemaOf } from './browsing.service';
import { type Browser, CatalogAccesses, type OpenCatalog } from './catalog-accesses';
import type { BrowseColumn, BrowseColumnsQuery } from './dto/browse.dto';
import { fullName, partsOf } from './full-name';
import { fromTableFiles } from './metastore-errors';
import { Metastores } from './metastores';
import { openStore, placeOf } from './secret-stores';

/** Tables that are read at the same time for one request. */
const TABLES_AT_ONCE = 4;
/** For the files of one table. */
const FILES_MS = 30_000;

/** What single tables are made of. */
@Injectable()
export class TablesService {
  constructor(
    private readonly catalogs: CatalogAccesses,
    private readonly metastores: Metastores,
    private readonly outbound: OutboundPolicy,
  ) {}

  async columns(browser: Browser, query: BrowseColumnsQuery): Promise<BrowseColumn[]> {
    const open = await this.catalogs.open(browser);
    const { columns } = await this.read(open, { ...schemaOf(open, query), table: query.table_name });
    return columns.columns.map(({ name, typeText, typeName, position, partition }) => ({
      name,
      type_text: typeText,
      type_name: typeName,
      position,
      type: partition ? 'partition' : 'column',
    }));
  }

  /**
   * The statement that makes each table, by its name as it was asked for. Where there are several, one that no statement makes
   * has a comment with the reason in its place.
   */
  async ddl(browser: Browser, names: readonly string[]): Promise<Record<string, string>[]> {
    const open = await this.catalogs.open(browser);
    const wanted = names.map((name) => [name, refOf(open, name)] as const);
    const entries: Record<string, string>[] = [];
    for (let from = 0; from < wanted.length; from += TABLES_AT_ONCE) {
      const some = wanted.slice(from, from + TABLES_AT_ONCE);
      const isAlone = wanted.length === 1;
      entries.push(
        ...(await Promise.all(some.map(async ([name, ref]) => ({ [name]: await this.shownDdl(open, ref, isAlone) })))),
      );
    }
    return entries;
  }

  private async shownDdl(open: OpenCatalog, ref: TableRef, isAlone: boolean): Promise<string> {
    try {
      return await this.ddlOf(open, ref);
    } catch (error) {
      if (isAlone || !(error instanceof DomainError) || error.code !== 'TABLE.UNSUPPORTED') throw error;
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
      throw notFound('METASTORE.MISSING', `There is no table ${nameOf(ref)} in "${open.access.catalogName}".`);
    try {
      const files = await this.filesOf(open, table);
      return { table, columns: await columnsOf(table, files, AbortSignal.timeout(FILES_MS)) };
    } catch (error) {
      throw fromTableFiles(nameOf(ref), error);
    }
  }

  /** Where the table keeps its schema among its files, if it does and a secret opens them. */
  private async filesOf(open: OpenCatalog, table: Table): Promise<TableFiles | null> {
    const kind = kindOf(table);
    const location = kind === 'delta' || kind === 'iceberg' ? locationOf(table) : null;
    const secret = location === null ? null : await open.storageSecret();
    if (location === null || secret === null) return null;
    const { s3Endpoint } = open;
    const place = placeOf(secret.type, location, s3Endpoint);
    return new StoreTableFiles(openStore(secret, place, { s3Endpoint, outbound: this.outbound }), place);
  }
}

/** The table that a full name means: of two parts, or of three with the catalog. */
function refOf(open: OpenCatalog, name: string): TableRef {
  const parts = partsOf(name);
  const [table = '', schema = '', catalog] = parts.reverse();
  if (parts.length < 2 || parts.length > (open.unityCatalogs ? 3 : 2)) {
    const meaning = open.unityCatalogs ? 'schema.table or catalog.schema.table' : 'schema.table';
    throw invalid('METASTORE.INVALID_NAME', `The name of a table is ${meaning}, and not "${name}".`);
  }
  return { catalog: catalogOf(open, catalog), schema, table };
}

function nameOf({ catalog, schema, table }: TableRef): string {
  return fullName(catalog, schema, table);
}
