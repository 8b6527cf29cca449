import { ComputeDriverError, type Market } from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';

/** How long what a provider had none of is not asked for again, milliseconds: as long as others who have tried it do. */
const BLOCKED_MS = 3 * 60_000;
const BLOCKED_BY_PROVIDER_MS: Readonly<Record<number, number>> = { [CLOUD_PROVIDER_ID.Azure]: 10 * 60_000 };

export function blockedForMs(cloudProviderId: number): number {
  return BLOCKED_BY_PROVIDER_MS[cloudProviderId] ?? BLOCKED_MS;
}

/** What is not to be asked for again so soon: an offer in its zone, in all of its region, or nothing. */
type Blocks = 'zone' | 'region' | 'nothing';

/**
 * What a fault about a machine says of the place where it was to be; null for one that has nothing to do with that. Of a zone
 * that nobody named, refusals are of that zone, too: it may not have the type of machine, or the network.
 * @param home where the node's environment says
 */
export function noRoom(
  { kind, scope }: Pick<ComputeDriverError, 'kind' | 'scope'>,
  { region, zone }: Pick<Place, 'region' | 'zone'>,
  home: Pick<Place, 'zone'>,
): Blocks | null {
  if (region === null) return null;
  if (kind === 'invalid') return zone === home.zone ? null : 'nothing';
  if (kind !== 'capacity' || scope === 'account') return null;
  // Where the provider chose the zone itself, nobody knows which it was.
  return scope === 'zone' && zone === null ? 'nothing' : scope;
}

/** What is known of where a node may be made. */
export interface Choice {
  place: Place;
  /** Zones of the region, in order. */
  zones: readonly string[];
  /** What was said in the zones that were asked. */
  tries: Readonly<Record<string, string>>;
  /** Zones not to be asked now. */
  blocked: ReadonlySet<string> | 'all';
}

/** The zone to ask after the node's own, in turn from there on; null if there is none. */
export function nextZone({ place, zones, tries, blocked }: Choice): string | null {
  if (blocked === 'all') return null;
  const after = zones.findIndex((zone) => place.zone === null || zone > place.zone);
  const inTurn = after < 0 ? zones : [...zones.slice(after), ...zones.slice(0, after)];
  const isOpen = (zone: string) => zone !== place.zone && !Object.hasOwn(tries, zone) && !blocked.has(zone);
  return inTurn.find(isOpen) ?? null;
}

/** For people: that no zone had room, and what each said. */
export function nowhere({ place, tries, zones, blocked }: Choice, type: string, market: Market): string {
  const machine = market === 'spot' ? `spot machine ${type}` : `machine ${type}`;
  const said = Object.keys(tries)
    .sort()
    .map((zone) => `${zone}: ${tries[zone]}`);
  const skipped = blocked === 'all' ? [] : zones.filter((zone) => blocked.has(zone) && !Object.hasOwn(tries, zone));
  const rest = skipped.length === 0 ? [] : [`without room a moment ago: ${skipped.join(', ')}`];
  return `No ${machine} is to be had in the region ${place.region ?? ''}. ${[...said, ...rest].join('; ')}`;
}

/**
 * The fault, with what not every provider names: of a quota that is used up, the region and the type of machine; of a zone
 * without room for a machine that stays there, because its disk is kept, the zone.
 */
export function inFull(
  fault: ComputeDriverError,
  { region, zone }: Pick<Place, 'region' | 'zone'>,
  { type, hasDisk }: { type: string; hasDisk: boolean },
): ComputeDriverError {
  const { kind, scope, code, message, retryAfterMs } = fault;
  const renamed = (words: string) =>
    new ComputeDriverError(code, `${words} ${message}`, { kind, scope, retryAfterMs, cause: fault });
  if (region === null) return fault;
  if (kind === 'capacity' && hasDisk)
    return renamed(`No machine ${type} is to be had in ${zone ?? region}, where the disk of the node is.`);
  if (kind !== 'quota') return fault;
  // Some begin their words with the code, and Google and Oracle Cloud name the quota in them.
  const name = code.split('.').at(-1) ?? code;
  const which = message.includes(name) ? 'A quota' : `A quota (${name})`;
  const whose = scope === 'account' ? 'of the account, in all regions,' : 'of the account';
  return renamed(`${which} ${whose} does not allow a machine ${type} in the region ${region}.`);
}
