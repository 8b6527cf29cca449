import { Injectable } from '@nestjs/common';
import { conflict } from '../../platform/errors/domain-error';
import { rows, type Tx } from '../../platform/persistence/sql';

const NAMED = 20;

/** Which workspaces groups may use. It reads their tables only, so that what decides about groups need not import them. */
@Injectable()
export class WorkspaceUsageService {
  /** Throws a conflict that names the workspaces while the group holds a permission on any. */
  async assertHoldsNone(tx: Tx, groupId: number): Promise<void> {
    const workspaces = await rows<{ workspace_id: number; name: string }>(
      tx,
      `SELECT w.workspace_id, w.name FROM workspace_groups wg JOIN workspaces w ON w.workspace_id = wg.workspace_id
       WHERE wg.group_id = $1 AND wg.to_date = 'infinity' ORDER BY w.workspace_id LIMIT ${NAMED}`,
      [groupId],
    );
    if (workspaces.length === 0) return;
    throw conflict(
      'GROUP.IN_USE',
      `The group holds a permission on the workspaces ${workspaces.map(({ name }) => `"${name}"`).join(', ')}. Take it away first.`,
      { workspaces },
    );
  }
}
