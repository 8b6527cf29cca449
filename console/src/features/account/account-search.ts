import { textParam, withoutAbsent } from '../../shared/search-params';

interface AccountSearch {
  /** A part of the names of the workspaces that are listed. */
  q?: string;
}

export function readAccountSearch(search: Record<string, unknown>): AccountSearch {
  return withoutAbsent({ q: textParam(search['q']) });
}
