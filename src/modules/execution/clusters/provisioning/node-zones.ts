import { ComputeDriverError, type Market } from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';

/** Time for which an offer without capacity is not requested again, milliseconds. */
const BLOCKED_MS = 3 * 60_000;
const BLOCKED_BY_PROVIDER_MS: Readonly<Record<number, number>> = { [CLOUD_PROVIDER_ID.Azure]: 10 * 60_000 };

export function blockedForMs(cloudProviderId: number): number {
  return BLOCKED_BY_PROVIDER_MS[cloudProviderId] ?? BLOCKED_MS;
}

/** The extent of a block: the offer in its zone, in the whole region, or nothing. */
type BlockScope = 'zone' | 'region' | 'nothing';

/**
 * Returns what a fault about a machine blocks; null if the fault does not concern its place. In a zone that the
 * environment does not name, refusals of a request concern the zone too: it may lack the machine type or the network.
 * @param home place of the node's environment
 */
export function scopeToBlock(
  { kind, scope }: Pick<ComputeDriverError, 'kind' | 'scope'>,
  { region, zone }: Pick<Place, 'region' | 'zone'>,
  home: Pick<Place, 'zone'>,
): BlockScope | null {
  if (region === null) return null;
  if (kind === 'invalid') return zone === home.zone ? null : 'nothing';
  if (kind !== 'capacity' || scope === 'account') return null;
  // If the provider chose the zone, the refusing zone is unknown.
  return scope === 'zone' && zone === null ? 'nothing' : scope;
}

/** The places in which a node can be created. */
export interface PlacementOptions {
  place: Place;
  zones: readonly string[];
  /** The provider's messages by zone that was tried. */
  tries: Readonly<Record<string, string>>;
  blocked: ReadonlySet<string> | 'all';
}

/** Returns the zone to try next, in turn from the node's own; null if there is none. */
export function nextZone({ place, zones, tries, blocked }: PlacementOptions): string | null {
  if (blocked === 'all') return null;
  const after = zones.findIndex((zone) => place.zone === null || zone > place.zone);
  const inTurn = after < 0 ? zones : [...zones.slice(after), ...zones.slice(0, after)];
  const isOpen = (zone: string) => zone !== place.zone && !Object.hasOwn(tries, zone) && !blocked.has(zone);
  return inTurn.find(isOpen) ?? null;
}

/** Returns the message that no zone had capacity, with the provider's message for each zone. */
export function noCapacityMessage(
  { place, tries, zones, blocked }: PlacementOptions,
  type: string,
  market: Market,
): string {
  const machines = market === 'spot' ? 'spot machines' : 'machines';
  const answers = Object.keys(tries)
    .sort()
    .map((zone) => `${zone}: ${tries[zone]}`);
  const skipped = blocked === 'all' ? [] : zones.filter((zone) => blocked.has(zone) && !Object.hasOwn(tries, zone));
  const rest = skipped.length === 0 ? [] : [`not tried again, no capacity minutes ago: ${skipped.join(', ')}`];
  return (
    `The provider has no capacity for ${machines} of type ${type} in region ${place.region ?? ''}. Try again later, or choose ` +
    `another machine type or region. ${[...answers, ...rest].join('; ')}`
  );
}

/**
 * Adds details that not every provider names: for a quota, the region and the machine type; for missing capacity, the
 * zone, if the machine must stay there because of its disk.
 */
export function describeFault(
  fault: ComputeDriverError,
  { region, zone }: Pick<Place, 'region' | 'zone'>,
  { type, hasDisk }: { type: string; hasDisk: boolean },
): ComputeDriverError {
  const { kind, scope, code, message, retryAfterMs } = fault;
  const withPrefix = (prefix: string) =>
    new ComputeDriverError(code, `${prefix} ${message}`, { kind, scope, retryAfterMs, cause: fault });
  if (region === null) return fault;
  if (kind === 'capacity' && hasDisk)
    return withPrefix(
      `The provider has no capacity for machines of type ${type} in ${zone ?? region}, where the node's disk is. Try again later.`,
    );
  if (kind !== 'quota') return fault;
  // Some messages begin with the code. Google and Oracle Cloud name the quota in them.
  const name = code.split('.').at(-1) ?? code;
  const which = message.includes(name) ? 'A quota' : `A quota (${name})`;
  const whose = scope === 'account' ? 'of the account, in all regions,' : 'of the account';
  return withPrefix(
    `${which} ${whose} does not allow another machine of type ${type} in region ${region}. Have it raised at the provider, or use fewer or smaller machines.`,
  );
}
