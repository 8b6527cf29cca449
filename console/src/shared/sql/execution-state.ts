/** States of a statement: `starting` waits for its server, and `skipped` was left out because one before it failed. */
export type ExecutionState = 'waiting' | 'starting' | 'running' | 'done' | 'failed' | 'cancelled' | 'skipped';
