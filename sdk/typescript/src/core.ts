// The core: typed calls of single operations. It is small, for programs that do not need the classes of `managed-spark`.
export * from './errors.ts';
export type { Operation, PagedOperation, Upload } from './operation.ts';
export { CookieSession, PasswordSession, TokenSession, type Login } from './sessions.ts';
export { Transport, type Arguments, type CallOptions, type Session, type TransportOptions } from './transport.ts';
export { backoffMs, Deadline, Pauses, sleep, type WaitOptions } from './waiting.ts';
