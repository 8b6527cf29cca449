import type { RunMount } from '../contracts/agent-protocol';
import { hadoopStore, type HadoopStore } from './store-properties';
import { SubmitError } from './submit-error';

/** Spark redacts the values of these properties: its own pattern, and the names of object store keys in Hadoop and in environments. */
export const REDACTED = '(?i)secret|password|token|access[._]?key|(private|encryption|account)[.-]?key';

/** Environment variable with the class path that Spark's launcher appends to Spark's own. */
export const LAST_CLASS_PATH = 'SPARK_DIST_CLASSPATH';

interface MountedStore extends HadoopStore {
  mount: RunMount;
}

/**
 * Returns the Spark properties that map paths below the mount points to their stores, while all other paths stay local: ADR 0008. They
 * contain credentials, so they belong in a file that only its owner can read. Throws a SubmitError for mounts that are invalid, or
 * that cannot be combined in one run.
 */
export function mountProperties(mounts: readonly RunMount[]): [string, string][] {
  if (mounts.length === 0) return [];
  const faults = mounts.flatMap(({ fault }) => fault ?? []);
  if (faults.length > 0) throw new SubmitError(faults.join(' '));
  assertMountPoints(mounts);
  const stores = mounts.map((mount) => ({ ...hadoopStore(mount), mount }));
  const hadoop: [string, string][] = [
    ['fs.defaultFS', 'mounts:///'],
    ['fs.mounts.impl', 'mounts.MountFileSystem'],
    ['fs.AbstractFileSystem.mounts.impl', 'mounts.MountFs'],
    ['fs.mounts.count', String(mounts.length)],
    ...stores.flatMap(({ mount, target }, n): [string, string][] => [
      [`fs.mounts.${n}.point`, mount.mount_point],
      [`fs.mounts.${n}.target`, target],
      [`fs.mounts.${n}.read-only`, String(mount.read_only)],
    ]),
    ...Object.entries(storeProperties(stores)),
  ];
  return hadoop.map(([name, value]): [string, string] => [sparkName(name), value]);
}

/** Text of a Java properties file. */
export function propertiesText(properties: readonly [string, string][]): string {
  const line = ([name, value]: [string, string]): string =>
    `${escaped(name, /[\\=:#! \t\f]/g)}=${escaped(value, /\\|^[ \t\f]/g)}`;
  return properties.map(line).join('\n');
}

/** Returns the class path of the entries, after those that the node and the run already have. */
export function lastClassPath(entries: readonly string[], env: Readonly<Record<string, string>>): string {
  return [env[LAST_CLASS_PATH] ?? '', ...entries].filter((entry) => entry !== '').join(':');
}

function assertMountPoints(mounts: readonly RunMount[]): void {
  const seen = new Set<string>();
  for (const { mount_point: point } of mounts) {
    const names = point.slice(1).split('/');
    if (!point.startsWith('/') || names.some((name) => /^\.{0,2}$/.test(name)))
      throw new SubmitError(`The mount point ${point} is not an absolute path such as /mnt/data.`);
    if (seen.has(point)) throw new SubmitError(`Two mounts have the mount point ${point}.`);
    seen.add(point);
  }
}

/** Returns the properties of all stores. Mounts that share a store or a property must agree, because Hadoop keeps one value for both. */
function storeProperties(stores: readonly MountedStore[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [order, store] of stores.entries()) {
    for (const other of stores.slice(0, order)) {
      const clash = storeClash(store, other);
      if (clash === null) continue;
      throw new SubmitError(
        `The mounts ${other.mount.mount_point} and ${store.mount.mount_point} cannot be used in one run: ${clash}.`,
      );
    }
    Object.assign(all, store.properties);
  }
  return all;
}

/** Returns the reason why two mounts cannot be in one run, which has one value of each property; null if they can. */
export function storeClash(store: HadoopStore, other: HadoopStore): string | null {
  const isShared = store.scope === other.scope;
  const names = new Set([...Object.keys(store.properties), ...Object.keys(other.properties)]);
  for (const name of names) {
    const [own, theirs] = [store.properties[name], other.properties[name]];
    // A value set by only one mount matters if both use the same store: it would apply to both.
    if (own === theirs || !(isShared || (own !== undefined && theirs !== undefined))) continue;
    return `they differ in ${name}, and Hadoop has only one value of it for ${isShared ? store.scope : 'all mounts of a run'}`;
  }
  return null;
}

function sparkName(name: string): string {
  return name.startsWith('spark.') ? name : `spark.hadoop.${name}`;
}

const LINE_ENDS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };

function escaped(text: string, special: RegExp): string {
  return text.replace(special, '\\$&').replace(/[\n\r]/g, (end) => LINE_ENDS[end] ?? '');
}
