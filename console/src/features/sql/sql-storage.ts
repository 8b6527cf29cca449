import { keep, readKept } from '../../shared/browser-storage';
import type { KeptExecution, SessionStore } from '../../shared/sql/sql-runner';
import type { ServerKey } from '../../shared/sql/sql-servers';

/** The statements that somebody ran with one press of a button. */
export interface KeptQuery {
  id: string;
  at: number;
  workspaceId: number;
  jobId: number;
  /** The text of the editor. */
  text: string;
  executions: KeptExecution[];
}

const MAX_QUERIES = 60;
const MAX_TEXT = 50_000;
/** The most that is kept of a text that was not run; a longer one is too long for the storage of a browser. */
const MAX_DRAFT = 1_000_000;
const MAX_HISTORY = 1_500_000;

/** Keeps texts of the editor in the browser, apart for each user, so that the next user of the browser sees none of them. */
export class SqlStorage implements SessionStore {
  readonly #prefix: string;

  constructor(userId: number) {
    this.#prefix = `sql:${userId}:`;
  }

  /** A tab has a text of its own; a new tab begins with the last one. */
  draft(workspaceId: number): string {
    const key = `${this.#prefix}draft:${workspaceId}`;
    const kept = readKept({ in: 'tab', key }) ?? readKept({ in: 'browser', key });
    return typeof kept === 'string' ? kept : '';
  }

  setDraft(workspaceId: number, text: string): void {
    const key = `${this.#prefix}draft:${workspaceId}`;
    for (const place of ['tab', 'browser'] as const) keep({ in: place, key }, text.slice(0, MAX_DRAFT));
  }

  /** The last choices, with which the screen begins when the address has none. */
  place(): Partial<ServerKey> {
    const kept = readKept({ in: 'browser', key: `${this.#prefix}place` });
    const { workspaceId, jobId } = (typeof kept === 'object' && kept !== null ? kept : {}) as Record<string, unknown>;
    return {
      ...(typeof workspaceId === 'number' && { workspaceId }),
      ...(typeof jobId === 'number' && { jobId }),
    };
  }

  setPlace(place: { workspaceId: number | undefined; jobId: number | undefined }): void {
    keep({ in: 'browser', key: `${this.#prefix}place` }, place);
  }

  /** Returns the queries, the newest first. */
  history(): KeptQuery[] {
    const kept = readKept({ in: 'browser', key: `${this.#prefix}history` });
    return Array.isArray(kept) ? kept.filter(isKeptQuery) : [];
  }

  query(id: string): KeptQuery | undefined {
    return this.history().find((one) => one.id === id);
  }

  /** Adds a query, or replaces the one with its id. The oldest ones are left out. */
  keep(query: KeptQuery): void {
    const short = { ...query, text: query.text.slice(0, MAX_TEXT) };
    short.executions = query.executions.map((one) => ({ ...one, text: one.text.slice(0, MAX_TEXT) }));
    const others = this.history().filter(({ id }) => id !== query.id);
    const kept = [short, ...others].sort((a, b) => b.at - a.at).slice(0, MAX_QUERIES);
    while (kept.length > 1 && JSON.stringify(kept).length > MAX_HISTORY) kept.pop();
    keep({ in: 'browser', key: `${this.#prefix}history` }, kept);
  }

  clear(): void {
    keep({ in: 'browser', key: `${this.#prefix}history` }, undefined);
  }

  /** A session belongs to a tab, so that two tabs do not change each other's database and settings. */
  get(server: ServerKey): string | null {
    const kept = readKept({ in: 'tab', key: this.#sessionKey(server) });
    return typeof kept === 'string' ? kept : null;
  }

  set(server: ServerKey, handle: string | null): void {
    keep({ in: 'tab', key: this.#sessionKey(server) }, handle ?? undefined);
  }

  #sessionKey({ workspaceId, jobId }: ServerKey): string {
    return `${this.#prefix}session:${workspaceId}:${jobId}`;
  }
}

function isKeptQuery(value: unknown): value is KeptQuery {
  if (typeof value !== 'object' || value === null) return false;
  const { id, at, workspaceId, jobId, text, executions } = value as Partial<Record<keyof KeptQuery, unknown>>;
  const areIds = [at, workspaceId, jobId].every((one) => typeof one === 'number');
  return areIds && typeof id === 'string' && typeof text === 'string' && Array.isArray(executions);
}
