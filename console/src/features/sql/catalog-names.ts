import { type QueryClient, queryOptions } from '@tanstack/react-query';

/** A list of names in a metastore. Without a catalog it is the only one. */
export type ListKey =
  | { of: 'schemas'; catalog: string | undefined }
  | { of: 'tables'; catalog: string | undefined; schema: string }
  | { of: 'columns'; catalog: string | undefined; schema: string; table: string };

export interface CatalogName {
  name: string;
  /** Kind of a table, or type of a column. */
  detail?: string;
}

/** A page of a list; without a limit, all of it. */
export interface PageRequest {
  limit: number | undefined;
  /** Only names that contain the text. */
  part: string | undefined;
  signal: AbortSignal;
}

/** Reads the contents of a metastore. */
export interface CatalogReader {
  page: (list: ListKey, request: PageRequest) => Promise<{ names: CatalogName[]; total: number }>;
}

export interface NameList {
  names: readonly CatalogName[];
  /** True if the list has further names, which a search finds. */
  isCut: boolean;
  /** True if the metastore gave no answer. */
  isMissing: boolean;
}

/** Longer lists are searched on the server. */
const MAX_NAMES = 1_000;
/** The most that is offered from a longer list; a Hive metastore describes so many tables in one call. */
const PAGE_SIZE = 100;
/** A metastore that takes longer completes nothing. */
const DEADLINE_MS = 5_000;
const FRESH_MS = 60_000;
/** A list that could not be read is not requested again for this time. */
const MISSING_MS = 15_000;

const MISSING: NameList = { names: [], isCut: false, isMissing: true };

/** Names of a metastore's schemas, tables and columns, each list read once while it is fresh. It never fails: what is not read is empty. */
export class CatalogNames {
  constructor(
    private readonly queries: QueryClient,
    private readonly reader: CatalogReader,
    /** Tells lists of other metastores and workspaces apart. */
    private readonly key: unknown,
  ) {}

  /** Returns a list; of a long one, its first names. */
  async list(list: ListKey): Promise<NameList> {
    return this.queries.fetchQuery(this.query(list, undefined)).catch(() => MISSING);
  }

  /** Returns a list as it was read before; an empty one if it was not. */
  known(list: ListKey): NameList {
    return this.queries.getQueryData(this.query(list, undefined).queryKey) ?? MISSING;
  }

  /** Returns the names of a long list that contain a text. An abort ends the request. */
  async search(list: ListKey, part: string, signal: AbortSignal): Promise<NameList> {
    const query = this.query(list, part.toLowerCase());
    const end = () => void this.queries.cancelQueries({ queryKey: query.queryKey, exact: true });
    signal.addEventListener('abort', end, { once: true });
    try {
      return await this.queries.fetchQuery(query).catch(() => MISSING);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  private query(list: ListKey, part: string | undefined) {
    return queryOptions({
      queryKey: ['data', 'names', this.key, list, part],
      queryFn: async ({ signal }): Promise<NameList> => {
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
        try {
          return await this.read(list, part, deadline);
        } catch (error) {
          if (signal.aborted) throw error;
          return MISSING;
        }
      },
      staleTime: ({ state: { data } }) => (data?.isMissing ? MISSING_MS : FRESH_MS),
      retry: false,
    });
  }

  private async read(list: ListKey, part: string | undefined, signal: AbortSignal): Promise<NameList> {
    const first = await this.reader.page(list, { limit: PAGE_SIZE, part, signal });
    const isWhole = first.total <= first.names.length;
    if (isWhole || part !== undefined || first.total > MAX_NAMES) {
      return { names: first.names.slice(0, MAX_NAMES), isCut: !isWhole, isMissing: false };
    }
    const { names } = await this.reader.page(list, { limit: undefined, part, signal });
    return { names: names.slice(0, MAX_NAMES), isCut: names.length > MAX_NAMES, isMissing: false };
  }
}
