import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Kinds of resources as their addresses name them. */
export type AzureKind = 'virtualMachines' | 'disks' | 'networkInterfaces' | 'publicIPAddresses';

type Json = Record<string, unknown>;
type Convert = (item: unknown) => unknown;

interface Serializer {
  serialize(mapper: unknown, value: unknown, name: string): unknown;
  deserialize(
    mapper: unknown,
    value: unknown,
    name: string,
    options: { xml: object; ignoreUnknownProperties: boolean },
  ): unknown;
}

const here = createRequire(__filename);
/** Loads a file of a package that its index does not export. */
const inside = (name: string, file: string): Record<string, unknown> =>
  here(join(dirname(here.resolve(name)), file)) as Record<string, unknown>;

const compute = inside('@azure/arm-compute', 'models/compute/models.js') as Record<string, Convert>;
const disks = inside('@azure/arm-compute', 'models/computeDisk/models.js') as Record<string, Convert>;
const mappers = inside('@azure/arm-network', 'models/mappers.js');
const { createSerializer } = createRequire(here.resolve('@azure/arm-network'))('@azure/core-client') as {
  createSerializer(all: Record<string, unknown>): Serializer;
};
const serializer = createSerializer(mappers);

interface Schema {
  read: Convert;
  write: Convert;
}

const mapped = (name: string): Schema => ({
  read: (item) => serializer.deserialize(mappers[name], item, name, { xml: {}, ignoreUnknownProperties: true }),
  write: (item) => serializer.serialize(mappers[name], item, name),
});

const SCHEMAS: Record<AzureKind, Schema> = {
  virtualMachines: {
    read: (item) => compute['virtualMachineDeserializer']?.(item),
    write: (item) => compute['virtualMachineSerializer']?.(item),
  },
  disks: {
    read: (item) => disks['diskDeserializer']?.(item),
    write: (item) => disks['diskSerializer']?.(item),
  },
  networkInterfaces: mapped('NetworkInterface'),
  publicIPAddresses: mapped('PublicIPAddress'),
};

/** Returns fields of a request that its resource does not have or that are read-only. */
export function unknownInRequest(kind: AzureKind, body: Json): string[] {
  const { read, write } = SCHEMAS[kind];
  return missing(leaves(body), leaves(write(read(body))));
}

/** Throws if a response has fields that the resource does not have. */
export function assertAnswer(kind: AzureKind, body: Json): void {
  // The mapper reads known fields and renames them, so the values are compared.
  const values = (found: readonly string[]) => found.map((leaf) => leaf.slice(leaf.indexOf('=')));
  const lost = missing(values(leaves(body)), values(leaves(SCHEMAS[kind].read(body))));
  if (lost.length > 0) throw new Error(`The fake answers what ${kind} do not have: ${lost.join(', ')}`);
}

/** Returns each text, number or flag as `path=value`. */
function leaves(value: unknown, path = ''): string[] {
  if (value === undefined || value === null) return [];
  if (value instanceof Date) return [`${path}="${value.toISOString()}"`];
  if (typeof value !== 'object') return [`${path}=${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}/${key}`));
}

/** Returns the values that occur more often than in the others. */
function missing(wanted: readonly string[], found: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const one of found) counts.set(one, (counts.get(one) ?? 0) + 1);
  return wanted.filter((one) => {
    const count = counts.get(one) ?? 0;
    counts.set(one, count - 1);
    return count <= 0;
  });
}
