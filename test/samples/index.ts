import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bootDiskImage } from './boot-disk-image';
import { cloudEnv } from './cloud-env';
import { clusterConf } from './cluster-conf';
import { credentialsConf } from './credentials-conf';
import { networkConf } from './network-conf';
import { isSample, type Sample } from './sample';
import { volumeConf } from './volume-conf';

type AnySample = Sample<object, object | null, object, string>;

/** The records that describe clusters, each after those it refers to. */
export const PARTS = {
  volume_conf: volumeConf,
  network_conf: networkConf,
  boot_disk_image: bootDiskImage,
  credentials_conf: credentialsConf,
  cloud_env: cloudEnv,
  cluster_conf: clusterConf,
} satisfies Record<string, AnySample>;

/** The name of a sample's export in snake case, such as `cloud_env`. */
export type Kind = string;
export type Part = keyof typeof PARTS;
export type Ids = Readonly<Record<string, number>>;

/** Every kind of record that has a sample, each after those it refers to. */
export const KINDS = orderedByReference(samplesOfFolder());
const SAMPLES = new Map(KINDS);

export function sampleOf(kind: Kind): AnySample {
  const found = SAMPLES.get(kind);
  if (!found) throw new Error(`test/samples has no sample of ${kind}`);
  return found;
}

/** The request that creates a record, as {@link Sample.body}; some ids may be left out. */
export function bodyOf(kind: Kind, ids: Ids = {}): object {
  return sampleOf(kind).body(ids);
}

/** The columns of a record, as {@link Sample.row}. */
export function rowOf(kind: Kind, ids: Ids = {}): object {
  return sampleOf(kind).row(ids);
}

/** The table of a kind. */
export function tableOf(kind: Kind): string {
  return sampleOf(kind).table ?? `${kind}s`;
}

/** The kind as it is in operation ids, such as `CloudEnv`. */
export function operationName(kind: Kind): string {
  return kind.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function samplesOfFolder(): [Kind, AnySample][] {
  const load = createRequire(__filename);
  return readdirSync(__dirname)
    .filter((file) => file !== 'index.ts')
    .flatMap((file) => Object.entries(load(join(__dirname, file)) as Record<string, unknown>))
    .filter((entry): entry is [string, AnySample] => isSample(entry[1]))
    .map(([name, sample]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), sample]);
}

function orderedByReference(samples: readonly [Kind, AnySample][]): [Kind, AnySample][] {
  const ordered = new Map<Kind, AnySample>();
  const add = ([kind, sample]: [Kind, AnySample]) => {
    if (ordered.has(kind)) return;
    for (const id of needsOf(sample)) samples.filter(([other]) => id === `${other}_id`).forEach(add);
    ordered.set(kind, sample);
  };
  samples.forEach(add);
  return [...ordered];
}

/** Returns the ids that a sample reads. */
function needsOf({ body, row }: AnySample): ReadonlySet<string> {
  const asked = new Set<string>();
  const ids = new Proxy<Record<string, number>>({}, { get: (_, name) => void asked.add(String(name)) });
  body(ids);
  row(ids);
  return asked;
}
