import { Injectable } from '@nestjs/common';
import { decodePosition, encodePosition } from '../../../../platform/kernel/dto/keyset-page';
import { COUNTED_BEYOND } from '../../../../platform/kernel/dto/page';
import { toWire } from '../../../../platform/kernel/product/product-name';
import type { RunList, RunListEntry, RunListQuery } from './dto/run-list.dto';
import { shownLanguage } from './job-types';
import {
  type RunListFilters,
  type RunListRow,
  RunListsRepository,
  type RunsOfWorkspaces,
} from './run-lists.repository';
import type { RunStatus } from './run-state';

/** Lists of runs of all kinds, across the workspaces that the caller may see. */
@Injectable()
export class RunListsService {
  constructor(private readonly repository: RunListsRepository) {}

  async list(scope: RunsOfWorkspaces, query: RunListQuery): Promise<RunList> {
    const filters: RunListFilters = {
      statuses: query.run_status as RunStatus[] | undefined,
      types: query.run_type,
      createdByIds: query.created_by_ids,
      clusterIds: query.cluster_ids,
      partOfName: query.name,
      from: query.from,
      to: query.to,
    };
    const { limit, sort, order, after } = query;
    const place = `${sort}-${order}`;
    const position = after === undefined ? null : decodePosition(place, after);
    const found = await this.repository.page(
      scope,
      filters,
      { sort, isDescending: order === 'desc' },
      limit + 1,
      position,
    );
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const total = await this.total(scope, filters, query, found.length);
    return {
      data: page.map(entry),
      result_set: {
        limit,
        total_objects: total === null ? null : Math.min(total, COUNTED_BEYOND),
        total_is_lower_bound: total !== null && total > COUNTED_BEYOND,
        next: last === undefined ? null : encodePosition(place, { key: last.position, id: last.run_id }),
      },
    };
  }

  /** Counts the list for its first page, unless the page has the whole of it. */
  private async total(
    scope: RunsOfWorkspaces,
    filters: RunListFilters,
    { after, limit, sort }: RunListQuery,
    found: number,
  ): Promise<number | null> {
    if (after !== undefined) return null;
    return found <= limit ? found : this.repository.count(scope, filters, sort);
  }
}

function entry(row: RunListRow): RunListEntry {
  const { assigned_at: start, ended_at: end } = row;
  return {
    run_id: row.run_id,
    resource: row.kind,
    run_type: toWire(row.job_type),
    language: toWire(shownLanguage(row.language)),
    conf_id: row.job_conf_id,
    name: row.name,
    workspace: { workspace_id: row.workspace_id, name: row.workspace_name },
    cluster: { cluster_id: row.cluster_id, name: row.cluster_name },
    run_status: row.status,
    application_id: row.application_id,
    created_by:
      row.created_by_user_id === null || row.username === null
        ? null
        : { user_id: row.created_by_user_id, username: row.username },
    submit_date: row.from_date,
    start_date: start,
    end_date: end,
    duration_ms: start && end && end.getTime() - start.getTime(),
    reason_code: row.reason_code,
    reason: row.reason,
  };
}
