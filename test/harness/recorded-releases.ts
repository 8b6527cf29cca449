import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..', 'fixtures', 'releases');

/** A recorded request of a release's agent with the response of its control plane; `scripts/recording` defines the format. */
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
  /** The latest migration of the release. */
  migration: string;
  clusterId: number;
  /** Rows of a running cluster, in an order in which they can be inserted without checks. */
  rows: RecordedRow[];
}

/** Returns every recorded release. */
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
 * Returns the paths of fields that a recorded response has and the present one lacks or has with another type. Lists are
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
