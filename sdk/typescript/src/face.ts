// The exports that the entries for Node and browsers have in common.
export * from './core.ts';
export * as operations from './generated/operations.ts';
export type * as types from './generated/types.ts';
export { Catalogs, type Browsing } from './catalogs.ts';
export { Cell, type CodeCell } from './cells.ts';
export { Cluster, ClusterChange, Clusters } from './clusters.ts';
export { CellFailed, ClusterFailed, RunFailed, SqlFailed } from './failures.ts';
export { REMEDIES } from './generated/remedies.ts';
export { Files, Secrets, type LocalSource } from './files.ts';
export type { ServedFunction } from './functions.ts';
export type { Host, LocalFile, Ref } from './host.ts';
export { Notebook, Notebooks, type ExecuteOptions, type NotebookLanguage, type NotebookSettings } from './notebooks.ts';
export { isFinished, Run, type FollowOptions } from './runs.ts';
export { SqlServer, SqlSession, SqlStatement, type FetchOptions, type SqlCallOptions, type SqlOptions } from './sql.ts';
export { Table, type Column, type SqlValue } from './table.ts';
export { Jobs, Workspace, type FunctionOptions, type JobSettings, type NotebookOptions } from './workspaces.ts';
export type { RunOptions, Script, SubmitOptions } from './workspaces.ts';
