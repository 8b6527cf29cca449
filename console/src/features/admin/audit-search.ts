import { choiceParam, idParam, pageParam, textParam, withoutAbsent } from '../../shared/search-params';

export const OUTCOMES = ['done', 'refused', 'failed'] as const;
/** Hours by which the list goes back. */
export const PERIODS = ['1', '24', '168', '720'] as const;

/** The filters of the audit log, as they are in the address. */
export interface AuditSearch {
  user?: string;
  operation?: string;
  outcome?: (typeof OUTCOMES)[number];
  period?: (typeof PERIODS)[number];
  correlation?: string;
  page?: number;
  /** Id of the event that is open. */
  open?: number;
}

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  return withoutAbsent({
    user: textParam(search['user']),
    operation: textParam(search['operation']),
    outcome: choiceParam(OUTCOMES, search['outcome']),
    period: choiceParam(PERIODS, search['period']),
    correlation: textParam(search['correlation']),
    page: pageParam(search['page']),
    open: idParam(search['open']),
  });
}
