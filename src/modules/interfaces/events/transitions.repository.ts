import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, rows } from '../../../platform/kernel/persistence/sql';
import { ADMINS } from '../../../platform/kernel/auth/roles';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { heldRoles } from '../../foundation/iam';
import { nameEnum } from '../../../platform/kernel/dto/named-enums';
import { Snapshot } from './snapshot';

export const EVENT_KINDS = nameEnum('EventKind', ['run', 'notebook', 'cluster', 'node'], 'What an event is about.', {
  run: 'jobs, functions and SQL servers',
  notebook: 'notebook instances',
});
export type EventKind = (typeof EVENT_KINDS)[number];

/** A state that a record entered, as its history has it. */
export interface Transition {
  kind: EventKind;
  /** Id of the entry in the history. */
  history_id: number;
  /** Id of the transaction that committed it. */
  xact_id: number;
  tenant_id: string;
  /** Null for clusters and nodes, which belong to no workspace. */
  workspace_id: number | null;
  record_id: number;
  name: string;
  cluster_id: number;
  node_number: number | null;
  conf_id: number | null;
  from_status: string | null;
  status: string;
  reason: string | null;
  step: string | null;
  username: string | null;
  at: Date;
}

/** The result of a read, and the snapshot in which it read. */
export interface Found {
  snapshot: Snapshot;
  transitions: Transition[];
  /** True if there are more, so that some are missing. */
  isPartial: boolean;
}

/** Rights of users to see runs in the workspaces of a tenant at the moment. */
export interface Sight {
  /** Users who may see every workspace. */
  everywhere: ReadonlySet<number>;
  /** Pairs of a user and a workspace, as `user workspace`. */
  pairs: ReadonlySet<string>;
}

/** Entries of the histories that a read looks at, in all tenants. */
const MAX_SCANNED = 20_000;
/** Transitions that a read returns. */
export const MAX_READ = 5_000;

interface Source {
  history: 'run_states' | 'cluster_states' | 'node_states';
  key: string;
  record: string;
  columns: string;
}

const SOURCES: readonly Source[] = [
  {
    history: 'run_states',
    key: 'run_state_id',
    record: 'JOIN runs r ON r.run_id = s.run_id',
    columns: `CASE r.kind WHEN 'job' THEN 'run' ELSE r.kind END AS kind, r.tenant_id, r.workspace_id, r.run_id AS record_id,
      r.job_conf_snapshot->>'name' AS name, r.cluster_id, NULL::int AS node_number, r.job_conf_id AS conf_id`,
  },
  {
    history: 'cluster_states',
    key: 'cluster_state_id',
    record: 'JOIN clusters r ON r.cluster_id = s.cluster_id',
    columns: `'cluster' AS kind, r.tenant_id, NULL::bigint AS workspace_id, r.cluster_id AS record_id, r.name, r.cluster_id,
      NULL::int AS node_number, NULL::bigint AS conf_id`,
  },
  {
    history: 'node_states',
    key: 'node_state_id',
    record: 'JOIN cluster_nodes r ON r.node_id = s.node_id JOIN clusters c ON c.cluster_id = r.cluster_id',
    columns: `'node' AS kind, r.tenant_id, NULL::bigint AS workspace_id, r.node_id AS record_id, c.name, r.cluster_id,
      r.node_number, NULL::bigint AS conf_id`,
  },
];

/** Reads the histories of runs, clusters and nodes as one log. */
@Injectable()
export class TransitionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async snapshot(): Promise<Snapshot> {
    const row = await firstRow<{ text: string }>(this.dataSource.manager, 'SELECT pg_current_snapshot()::text AS text');
    return parsed(row?.text);
  }

  /**
   * Returns the transitions that `after` does not see, oldest first: of all tenants until now, or of one tenant until another
   * snapshot.
   */
  async since(after: Snapshot, upTo?: { tenantId: string; snapshot: Snapshot }): Promise<Found> {
    const params: unknown[] = [after.text, after.oldest];
    if (upTo) params.push(upTo.tenantId, upTo.snapshot.text);
    const until = upTo ? 'AND pg_visible_in_snapshot(s.xact_id::text::xid8, $4::pg_snapshot)' : '';
    const scan = (source: Source) => `
      SELECT s.*, count(*) OVER () AS scanned FROM (
        SELECT s.* FROM ${source.history} s
        WHERE s.xact_id >= $2 AND NOT pg_visible_in_snapshot(s.xact_id::text::xid8, $1::pg_snapshot) ${until}
        ORDER BY s.xact_id LIMIT ${MAX_SCANNED + 1}) s`;
    const parts = SOURCES.map(
      (source) => `
      SELECT ${source.columns}, s.${source.key} AS history_id, s.xact_id, s.from_status, s.status, s.reason, s.step, s.start_time,
        s.actor_user_id, s.scanned > ${MAX_SCANNED} AS is_partial
      FROM (${scan(source)}) s ${source.record} ${upTo ? `WHERE ${ofTenant('r', '$3')}` : ''}`,
    );
    const found = await rows<{ snapshot: string; is_partial: boolean } & (Transition | { kind: null })>(
      this.dataSource.manager,
      `SELECT pg_current_snapshot()::text AS snapshot, t.kind, t.history_id, t.xact_id, t.tenant_id, t.workspace_id, t.record_id,
         t.name, t.cluster_id, t.node_number, t.conf_id, t.from_status, t.status, t.reason, t.step, u.username,
         t.start_time AS at, t.is_partial
       FROM (SELECT 1) one LEFT JOIN (
         SELECT * FROM (${parts.join(' UNION ALL ')}) each ORDER BY each.start_time, each.history_id LIMIT ${MAX_READ + 1}
       ) t ON TRUE LEFT JOIN users u ON u.user_id = t.actor_user_id
       ORDER BY t.start_time, t.history_id`,
      params,
    );
    const transitions = found.filter(
      (row): row is { snapshot: string; is_partial: boolean } & Transition => row.kind !== null,
    );
    return {
      snapshot: parsed(found[0]?.snapshot),
      transitions: transitions.slice(0, MAX_READ),
      isPartial: transitions.length > MAX_READ || transitions.some(({ is_partial: isPartial }) => isPartial),
    };
  }

  /** Returns which of the users may see which of the workspaces of a tenant at the moment. */
  async sight(tenantId: string, userIds: readonly number[], workspaceIds: readonly number[]): Promise<Sight> {
    const admins = ADMINS.map((role) => `'${role}'`).join(', ');
    const found = await rows<{ user_id: number; workspace_id: number | null }>(
      this.dataSource.manager,
      `SELECT u.user_id, NULL::bigint AS workspace_id FROM unnest($2::bigint[]) AS u (user_id)
       WHERE EXISTS (SELECT 1 FROM (${heldRoles('u.user_id')}) h
         WHERE h.role IN (${admins}) AND (h.tenant_id IS NULL OR ${ofTenant('h', '$1')}))
       UNION ALL
       SELECT wu.user_id, wu.workspace_id FROM workspace_users wu
       WHERE ${ofTenant('wu', '$1')} AND wu.user_id = ANY($2) AND wu.workspace_id = ANY($3) AND wu.to_date = 'infinity'
       UNION ALL
       SELECT gu.user_id, wg.workspace_id FROM workspace_groups wg
       JOIN group_users gu ON gu.group_id = wg.group_id AND gu.to_date = 'infinity'
       WHERE ${ofTenant('wg', '$1')} AND wg.workspace_id = ANY($3) AND gu.user_id = ANY($2) AND wg.to_date = 'infinity'`,
      [tenantId, userIds, workspaceIds],
    );
    const everywhere = new Set<number>();
    const pairs = new Set<string>();
    for (const { user_id: user, workspace_id: workspace } of found) {
      if (workspace === null) everywhere.add(user);
      else pairs.add(pairOf(user, workspace));
    }
    return { everywhere, pairs };
  }
}

export function pairOf(userId: number, workspaceId: number): string {
  return `${userId} ${workspaceId}`;
}

function parsed(text: string | undefined): Snapshot {
  const snapshot = Snapshot.parse(text ?? '');
  if (!snapshot) throw new Error(`PostgreSQL named the snapshot ${String(text)}, which is in no known form`);
  return snapshot;
}
