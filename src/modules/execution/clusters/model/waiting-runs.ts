/** Of a run that waits for a slot of its cluster, as SQL: what clusters grow for. */
export const IS_WAITING = 'ended_at IS NULL AND node_id IS NULL';
