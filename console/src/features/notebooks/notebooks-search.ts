import { idParam, textParam, withoutAbsent } from '../../shared/search-params';

/** The filters of the list of notebooks, as they are in the address. */
export interface NotebooksSearch {
  q?: string;
  workspace?: number;
}

export function readNotebooksSearch({ q, workspace }: Record<string, unknown>): NotebooksSearch {
  return withoutAbsent({ q: textParam(q), workspace: idParam(workspace) }) as NotebooksSearch;
}
