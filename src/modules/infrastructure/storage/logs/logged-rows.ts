import type { LogName } from '../../../../../libs/object-storage/log-store';
import { type EntityClass, keyOf, tableOf } from '../../../../platform/kernel/persistence/entity-table';

type Kind = LogName['kind'];

/** The columns by which rows know of their logs. */
interface Logged {
  /** False once the logs were removed. */
  logs_kept: boolean;
  /** Whether the logs are in as few pieces as possible. */
  logs_settled: boolean;
}

/** Rows of one kind, as far as their logs are concerned. */
export interface LoggedRows {
  kind: Kind;
  table: string;
  key: string;
  endedAt: string;
}

const declared = new Map<Kind, { entity: EntityClass; endedAt: string }>();

/** States beside an entity that its rows have logs, and which column says when they ended. */
export function HasLogs(kind: Kind, endedAt: string) {
  return (entity: EntityClass<Logged>) => void declared.set(kind, { entity, endedAt });
}

export function loggedRows(): LoggedRows[] {
  return [...declared].map(([kind, { entity, endedAt }]) => {
    return { kind, table: tableOf(entity), key: keyOf(entity), endedAt };
  });
}
