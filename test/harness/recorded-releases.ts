import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..', 'fixtures', 'releases');

/** What the agent and the control plane of a release said to each other once; `scripts/recording` says how it is kept. */
export interface RecordedExchange {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  token: 'bootstrap' | 'node';
  type: string | null;
  body: unknown;
  answer: { status: number; type: string | null; body: unknown };
}

export interface RecordedRow {
  table: string;
  row: Record<string, unknown>;
}

export interface RecordedRelease {
  name: string;
  exchanges: RecordedExchange[];
  /** Its latest migration. */
  migration: string;
  clusterId: number;
  /** Of a running cluster, in an order in which they can be inserted without checks. */
  rows: RecordedRow[];
}

/** Every release that was recorded. */
export function recordedReleases(): RecordedRelease[] {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => {
    const read = (file: string): unknown => JSON.parse(readFileSync(join(FOLDER, name, file), 'utf8'));
    const [{ migration, cluster_id: clusterId }, ...rows] = read('rows.json') as [
      { migration: string; cluster_id: number },
      ...RecordedRow[],
    ];
    return { name, exchanges: read('exchanges.json') as RecordedExchange[], migration, clusterId, rows };
  });
}

/**
 * What a recorded answer had and the present one lacks, as paths: fields that are absent or of another type. Lists are
 * compared by their first elements; null stands for any value.
 */
export function lacking(recorded: unknown, present: unknown, path = ''): string[] {
  if (recorded === null || present === null) return [];
  if (typeof recorded !== typeof present || Array.isArray(recorded) !== Array.isArray(present)) return [path];
  if (Array.isArray(recorded)) {
    const [first, other] = [recorded[0] as unknown, (present as unknown[])[0]];
    return first === undefined || other === undefined ? [] : lacking(first, other, `${path}[]`);
  }
  if (typeof recorded !== 'object') return [];
  const found = present as Record<string, unknown>;
  return Object.entries(recorded).flatMap(([key, value]) =>
    key in found ? lacking(value, found[key], `${path}.${key}`) : [`${path}.${key}`],
  );
}
