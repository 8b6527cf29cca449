import { choiceParam, idParam, pageParam, textParam, withoutAbsent } from '../../shared/search-params';

export const SECRET_SCOPES = ['user', 'workspace', 'tenant'] as const;
export type SecretScope = (typeof SECRET_SCOPES)[number];

/** The part of a list of the administration that is shown, as it is in the address. */
export interface AdminSearch {
  q?: string;
  page?: number;
  /** Accounts or groups of the whole deployment, not only those with a role in the tenant. */
  all?: 'true';
  /** Id of a group: only its members. */
  group?: number;
  /** The owner of the secrets that are listed. */
  scope?: SecretScope;
  workspace?: number;
  /** Id of the record that is open. */
  open?: number;
}

export function readAdminSearch(search: Record<string, unknown>): AdminSearch {
  return withoutAbsent({
    q: textParam(search['q']),
    page: pageParam(search['page']),
    all: choiceParam(['true'] as const, search['all']),
    group: idParam(search['group']),
    scope: choiceParam(SECRET_SCOPES, search['scope']),
    workspace: idParam(search['workspace']),
    open: idParam(search['open']),
  });
}
