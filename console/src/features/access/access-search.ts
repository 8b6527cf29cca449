import { choiceParam, idParam, pageParam, textParam, withoutAbsent } from '../../shared/search-params';

export const HOLDERS = ['users', 'groups'] as const;
export type Holders = (typeof HOLDERS)[number];

/** The part of the matrix that is shown, as it is in the address. */
export interface AccessSearch {
  workspace?: number;
  of?: 'groups';
  q?: string;
  /** Id of a permission: only those whose strongest permission it is. */
  permission?: number;
  page?: number;
  /** Id of the user or group whose rights are open. */
  holder?: number;
}

export function readAccessSearch(search: Record<string, unknown>): AccessSearch {
  return withoutAbsent({
    workspace: idParam(search['workspace']),
    of: choiceParam(['groups'] as const, search['of']),
    q: textParam(search['q']),
    permission: idParam(search['permission']),
    page: pageParam(search['page']),
    holder: idParam(search['holder']),
  });
}
