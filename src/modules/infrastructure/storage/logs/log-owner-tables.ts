import type { LogName } from '../../../../../libs/object-storage/log-store';
import { type EntityClass, keyOf, tableOf } from '../../../../platform/kernel/persistence/entity-table';

type Kind = LogName['kind'];

/** Columns of a table whose rows have logs. */
interface LogOwner {
  /** False once the logs have been deleted. */
  logs_kept: boolean;
  logs_settled: boolean;
}

export interface LogOwnerTable {
  kind: Kind;
  table: string;
  key: string;
  endedAt: string;
}

const declared = new Map<Kind, { entity: EntityClass; endedAt: string }>();

/** Declares that an entity's rows have logs. `endedAt` is the column with the time of their end. */
export function HasLogs(kind: Kind, endedAt: string) {
  return (entity: EntityClass<LogOwner>) => void declared.set(kind, { entity, endedAt });
}

export function logOwnerTables(): LogOwnerTable[] {
  return [...declared].map(([kind, { entity, endedAt }]) => {
    return { kind, table: tableOf(entity), key: keyOf(entity), endedAt };
  });
}
