import type { compute_v1 } from '@googleapis/compute/build/v1';
import { INSTALLATION_LABEL, NODE_LABEL, type Owner, ownerOf } from '../cloud-driver';
import { ComputeDriverError } from '../compute-driver';
import { addressOf, dateOf } from '../machines/response-values';
import { readPages } from '../machines/calls';
import type { Machine, MachinePhase } from '../machines/cloud-port';
import type { Place } from '../place';
import type { GoogleClient } from './google-client';
import { googleFault, listOf, operationFault, recordOf, textOf } from './google-faults';
import { projectOf } from './google-names';

/** Google's limit of items on one page. */
const PAGE_SIZE = 500;
const MAX_PAGES = 60;
const MAX_FOUND = MAX_PAGES * PAGE_SIZE;
const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Values of labels that a filter may contain. */
const FILTERABLE = /^[\p{Ll}\p{Lo}\p{N}_-]{1,63}$/u;

/** A resource with the labels of a node. */
interface Labelled {
  owner: Owner;
  /** Google's name of the resource. */
  id: string;
  /** Zone of a machine or disk, or region of an address. */
  where: string;
  createdAt: Date | null;
}

export interface GoogleMachine extends Machine {
  zone: string;
  hasLocalSsd: boolean;
  startedAt: Date | null;
  stoppedAt: Date | null;
}

export interface GooglePart extends Labelled {
  kind: 'disk' | 'address';
  isInUse: boolean;
}

/** An operation of Google on a machine. */
export interface MachineOperation {
  type: string;
  /** Name of the machine. */
  machine: string;
  done: boolean;
  at: Date | null;
  message: string;
  fault: ComputeDriverError | null;
}

type Page = { nextPageToken?: string | null; items?: unknown };
type Query = { filter: string; maxResults: number; pageToken?: string };

export function tokenFilter(nodeTokens: readonly string[]): string {
  return nodeTokens.map((token) => `(${labelFilter(NODE_LABEL, token)})`).join(' OR ');
}

export function installationFilter(installationId: string): string {
  return labelFilter(INSTALLATION_LABEL, installationId);
}

function labelFilter(key: string, value: string): string {
  // A quotation mark would end the value.
  if (FILTERABLE.test(value)) return `labels.${key}="${value}"`;
  throw new ComputeDriverError('GOOGLE.LABEL_INVALID', 'The token of the node is not a valid label.', {
    kind: 'invalid',
  });
}

export async function zoneMachines(
  client: GoogleClient,
  project: string,
  zone: string,
  filter: string,
): Promise<GoogleMachine[]> {
  const machines = await pages(
    client,
    filter,
    (api, query, options) => api.instances.list({ project, zone, ...query }, options),
    (items) => itemsOf(items).map(machineFrom),
  );
  return machines.filter((one) => one.zone === zone);
}

/** Lists machines in all zones of the place's region. */
export async function regionMachines(client: GoogleClient, place: Place, filter: string): Promise<GoogleMachine[]> {
  const machines = await pages(
    client,
    filter,
    (api, query, options) => api.instances.aggregatedList({ project: projectOf(place), ...query }, options),
    (scopes) => inScopes(scopes, 'instances').map(machineFrom),
  );
  return machines.filter(({ zone }) => isWithin(place, zone));
}

/** Lists disks in all zones of the place's region, and addresses of the region. */
export async function regionParts(client: GoogleClient, place: Place, filter: string): Promise<GooglePart[]> {
  const project = projectOf(place);
  const disks = await pages(
    client,
    filter,
    (api, query, options) => api.disks.aggregatedList({ project, ...query }, options),
    (scopes) => inScopes(scopes, 'disks').map((item) => partFrom('disk', item)),
  );
  const addresses = await pages(
    client,
    filter,
    (api, query, options) => api.addresses.aggregatedList({ project, ...query }, options),
    (scopes) => inScopes(scopes, 'addresses').map((item) => partFrom('address', item)),
  );
  return [...disks, ...addresses].filter(({ where }) => isWithin(place, where));
}

/** Lists operations on machines of the zone whose names have this prefix, newest first. */
export async function listOperations(
  client: GoogleClient,
  project: string,
  zone: string,
  name: string,
): Promise<MachineOperation[]> {
  const query = { project, zone, filter: `targetLink:"/instances/${name}"`, orderBy: 'creationTimestamp desc' };
  const { items } = await client.call((api, options) =>
    api.zoneOperations.list({ ...query, maxResults: PAGE_SIZE }, options),
  );
  return listOf(items)
    .map(recordOf)
    .filter(({ targetLink }) => lastPart(targetLink).startsWith(name))
    .map((operation) => ({
      type: textOf(operation['operationType']),
      machine: lastPart(operation['targetLink']),
      done: operation['status'] === 'DONE',
      at: dateOf(operation['insertTime']),
      message: textOf(operation['statusMessage']),
      fault: operationFault(operation, client.secrets),
    }))
    .sort((one, other) => (other.at?.getTime() ?? 0) - (one.at?.getTime() ?? 0));
}

function pages<One>(
  client: GoogleClient,
  filter: string,
  request: (api: compute_v1.Compute, query: Query, options: { signal: AbortSignal }) => Promise<{ data: Page }>,
  read: (items: unknown) => (One | null)[],
): Promise<One[]> {
  const message = `Compute Engine lists more than ${MAX_FOUND} resources of one kind, or never ends the list.`;
  const exceeded = () => new ComputeDriverError('GOOGLE.TOO_MANY', message, { kind: 'invalid' });
  return readPages(
    { pages: MAX_PAGES, items: MAX_FOUND, exceeded },
    async (pageToken) => {
      const query = { filter, maxResults: PAGE_SIZE, ...(pageToken === undefined ? {} : { pageToken }) };
      const response = await client.call((api, options) => request(api, query, options));
      return { items: read(response.items), next: textOf(response.nextPageToken) };
    },
    (one) => one,
  );
}

/** Returns the items of an aggregated list, which has them by zone or region. */
function inScopes(scopes: unknown, kind: 'instances' | 'disks' | 'addresses'): unknown[] {
  return itemsOf(scopes).flatMap((scope) => {
    const { warning, [kind]: items } = recordOf(scope);
    // The resources of an unreachable zone are not gone.
    if (recordOf(warning)['code'] === 'UNREACHABLE') throw unreachable(textOf(recordOf(warning)['message']));
    return listOf(items);
  });
}

function unreachable(message: string): ComputeDriverError {
  return googleFault(
    { status: 503, code: 'UNREACHABLE', message: message || 'A zone of Google Cloud is unreachable' },
    [],
  );
}

function itemsOf(items: unknown): unknown[] {
  return Array.isArray(items) ? items : Object.values(recordOf(items));
}

function isWithin({ region }: Place, where: string): boolean {
  return region === null || where === region || where.replace(/-[^-]*$/, '') === region;
}

/** Returns null for a resource without the labels of a node or a valid name. */
function labelledFrom(item: unknown): Labelled | null {
  const { labels, name, zone, region, creationTimestamp } = recordOf(item);
  const owner = ownerOf(textsOf(labels));
  const where = lastPart(zone ?? region);
  if (owner === null || !NAME.test(textOf(name)) || !NAME.test(where)) return null;
  return { owner, id: textOf(name), where, createdAt: dateOf(creationTimestamp) };
}

function machineFrom(item: unknown): GoogleMachine | null {
  const labelled = labelledFrom(item);
  if (labelled === null) return null;
  const { where, ...named } = labelled;
  const instance = recordOf(item);
  const [card] = listOf(instance['networkInterfaces']).map(recordOf);
  const [access] = listOf(card?.['accessConfigs']).map(recordOf);
  return {
    ...{ ...named, zone: where, end: null, fault: null },
    // An unknown status may be one that Google adds later.
    phase: PHASES[textOf(instance['status'])] ?? 'starting',
    isSpot: recordOf(instance['scheduling'])['provisioningModel'] === 'SPOT',
    hasLocalSsd: listOf(instance['disks']).some((disk) => recordOf(disk)['type'] === 'SCRATCH'),
    privateIp: addressOf(card?.['networkIP']),
    publicIp: addressOf(access?.['natIP']),
    startedAt: dateOf(instance['lastStartTimestamp']),
    stoppedAt: dateOf(instance['lastStopTimestamp']),
  };
}

/** Returns a machine that was requested and is not listed, or not yet. */
export function unlistedMachine(owner: Owner, id: string, zone: string): GoogleMachine {
  return {
    ...{ owner, id, zone, phase: 'starting', end: null, fault: null, isSpot: false, hasLocalSsd: false },
    ...{ createdAt: null, startedAt: null, stoppedAt: null, privateIp: null, publicIp: null },
  };
}

function partFrom(kind: GooglePart['kind'], item: unknown): GooglePart | null {
  const labelled = labelledFrom(item);
  return labelled && { ...labelled, kind, isInUse: listOf(recordOf(item)['users']).length > 0 };
}

const PHASES: Readonly<Record<string, MachinePhase>> = {
  PROVISIONING: 'starting',
  STAGING: 'starting',
  // Its host failed. Google starts it again by itself.
  REPAIRING: 'starting',
  PENDING: 'starting',
  RUNNING: 'running',
  PENDING_STOP: 'stopping',
  STOPPING: 'stopping',
  SUSPENDING: 'stopping',
  DEPROVISIONING: 'stopping',
  SUSPENDED: 'off',
  STOPPED: 'off',
  TERMINATED: 'off',
};

function textsOf(labels: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(recordOf(labels)).map(([key, value]) => [key, textOf(value)]));
}

function lastPart(url: unknown): string {
  return textOf(url).split('/').at(-1) ?? '';
}
