// Sessions at SQL servers, for programs that do without the classes of `managed-spark`.
export { SqlFailed } from './failures.ts';
export { SqlServer, SqlSession, SqlStatement, type FetchOptions, type SqlCallOptions } from './sql.ts';
export type { Column, SqlValue } from './table.ts';
