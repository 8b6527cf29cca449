import { idParam, textParam, withoutAbsent } from '../../shared/search-params';

/** The address keeps the workspace, the run of the SQL server, and the statements that were run last. */
export interface SqlSearch {
  workspace?: number;
  server?: number;
  query?: string;
}

export function readSqlSearch({ workspace, server, query }: Record<string, unknown>): SqlSearch {
  return withoutAbsent({ workspace: idParam(workspace), server: idParam(server), query: textParam(query) });
}
