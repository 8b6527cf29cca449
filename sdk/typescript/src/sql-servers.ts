// Sessions on SQL servers, for programs that do not need the classes of `managed-spark`.
export { SqlFailed } from './failures.ts';
export { SqlServer, SqlSession, SqlStatement, type FetchOptions, type SqlCallOptions } from './sql.ts';
export type { Column, SqlValue } from './table.ts';
