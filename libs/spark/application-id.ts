/**
 * Returns the application id in a file name of the event log folder: `app-20240101120000-0001.inprogress`,
 * `local-1700000000000.zstd`, `eventlog_v2_app-…` (a rolling log); null for other names.
 */
export function applicationIdOf(name: string): string | null {
  const id = name
    .replace(/^eventlog_v2_/, '')
    .replace(/\.inprogress$/, '')
    .replace(/\.(?:zstd|lz4|lzf|snappy)$/, '')
    .replace(/\.compact$/, '');
  return /^(?:app|local|application|spark)-?[\w-]+$/.test(id) ? id : null;
}

/** Returns the application id in a driver's log, for runs whose event log is elsewhere. */
export function applicationIdInLog(text: string): string | null {
  return /(?:with app ID|app id =|application ID) ((?:app|local|application|spark)[-_][\w-]+)/i.exec(text)?.[1] ?? null;
}
