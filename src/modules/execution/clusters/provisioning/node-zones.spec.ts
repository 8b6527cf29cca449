import {
  ComputeDriverError,
  type FaultKind,
  type FaultScope,
} from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';
import {
  blockedForMs,
  type PlacementOptions,
  describeFault,
  nextZone,
  scopeToBlock,
  noCapacityMessage,
} from './node-zones';

const PLACE: Place = {
  ...{ account: null, region: 'r', zone: 'ra', networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

const choice = (values: Partial<PlacementOptions> = {}): PlacementOptions => ({
  ...{ place: PLACE, zones: ['ra', 'rb', 'rc'], tries: {}, blocked: new Set() },
  ...values,
});
const tried = (...zones: string[]) => Object.fromEntries(zones.map((zone) => [zone, `none in ${zone}`]));
const at = (zone: string | null): Place => ({ ...PLACE, zone });

describe('the scope that a fault blocks', () => {
  it.each<[FaultKind, FaultScope, string | null, ReturnType<typeof scopeToBlock>]>([
    ['capacity', 'zone', 'ra', 'zone'],
    ['capacity', 'zone', 'rb', 'zone'],
    ['capacity', 'zone', null, 'nothing'],
    ['capacity', 'region', 'ra', 'region'],
    ['capacity', 'region', null, 'region'],
    ['capacity', 'account', 'ra', null],
    ['invalid', 'account', 'ra', null],
    ['invalid', 'account', 'rb', 'nothing'],
    ['quota', 'region', 'rb', null],
    ['denied', 'account', 'rb', null],
    ['throttled', 'zone', 'rb', null],
    ['transient', 'zone', 'rb', null],
  ])('%s of the %s in %p, whose home is ra, blocks %p', (kind, scope, zone, expected) => {
    expect(scopeToBlock({ kind, scope }, at(zone), at('ra'))).toBe(expected);
    expect(scopeToBlock({ kind, scope }, { region: null, zone }, at('ra'))).toBeNull();
  });

  it('stays blocked for minutes, longer at Azure', () => {
    expect(blockedForMs(CLOUD_PROVIDER_ID.AWS)).toBe(180_000);
    expect(blockedForMs(CLOUD_PROVIDER_ID.Azure)).toBe(600_000);
  });
});

describe('the next zone', () => {
  it.each<[string, Partial<PlacementOptions>, string | null]>([
    ['the one after its own', {}, 'rb'],
    ['the first after the last', { place: at('rc') }, 'ra'],
    ['no zone twice', { place: at('rb'), tries: tried('ra', 'rb') }, 'rc'],
    ['none if all were tried', { place: at('rc'), tries: tried('ra', 'rb', 'rc') }, null],
    ['not a blocked one', { blocked: new Set(['rb']) }, 'rc'],
    ['none if all others are blocked', { blocked: new Set(['rb', 'rc']) }, null],
    ['none in a blocked region', { blocked: 'all' }, null],
    ['the first if the provider chose its zone', { place: at(null) }, 'ra'],
    ['none if its own is the only one', { zones: ['ra'] }, null],
    ['none if the region has no zones', { place: at(null), zones: [] }, null],
    ['the one after its own, which need not be listed', { place: at('rb'), zones: ['ra', 'rc'] }, 'rc'],
  ])('is %s', (_what, values, expected) => {
    expect(nextZone(choice(values))).toBe(expected);
  });

  it('is another one each time until all were tried', () => {
    const seen: string[] = [];
    for (let zone: string | null = 'rb'; zone !== null && seen.length < 9;) {
      seen.push(zone);
      zone = nextZone(choice({ place: at(zone), tries: tried(...seen) }));
    }
    expect(seen).toEqual(['rb', 'rc', 'ra']);
  });
});

describe('the message', () => {
  it('of a region without capacity names type, market, region and the answer of each zone', () => {
    const message = noCapacityMessage(
      choice({ tries: tried('ra', 'rc'), blocked: new Set(['rb', 'ra']) }),
      'm5.large',
      'spot',
    );
    expect(message).toBe(
      'The provider has no capacity for spot machines of type m5.large in region r. Try again later, or choose another machine type or region. ' +
        'ra: none in ra; rc: none in rc; not tried again, no capacity minutes ago: rb',
    );
  });

  it.each<[string, string, FaultScope, string]>([
    [
      'VcpuLimitExceeded',
      'VcpuLimitExceeded: limit of 0',
      'region',
      'A quota of the account does not allow another machine of type m5.large in region r. Have it raised at the provider, or use fewer or smaller machines. VcpuLimitExceeded: limit of 0',
    ],
    [
      'GOOGLE.QUOTA_EXCEEDED',
      "Quota 'CPUS' exceeded.",
      'region',
      "A quota (QUOTA_EXCEEDED) of the account does not allow another machine of type m5.large in region r. Have it raised at the provider, or use fewer or smaller machines. Quota 'CPUS' exceeded.",
    ],
    [
      'AZURE.OperationNotAllowed',
      'OperationNotAllowed: cores',
      'region',
      'A quota of the account does not allow another machine of type m5.large in region r. Have it raised at the provider, or use fewer or smaller machines. OperationNotAllowed: cores',
    ],
    [
      'GOOGLE.QUOTA_EXCEEDED',
      "Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.",
      'account',
      "A quota (QUOTA_EXCEEDED) of the account, in all regions, does not allow another machine of type m5.large in region r. Have it raised at the provider, or use fewer or smaller machines. Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.",
    ],
  ])('of the quota %s names it and the region', (code, message, scope, expected) => {
    const fault = new ComputeDriverError(code, message, { kind: 'quota', scope });
    const named = describeFault(fault, PLACE, { type: 'm5.large', hasDisk: false });
    expect(named.message).toBe(expected);
    expect(named).toMatchObject({ code, kind: 'quota', scope });
  });

  it('of a machine whose disk is in a zone without capacity names the zone', () => {
    const fault = new ComputeDriverError('X', 'none left', { kind: 'capacity', scope: 'zone' });
    const message =
      "The provider has no capacity for machines of type m5.large in ra, where the node's disk is. Try again later. none left";
    expect(describeFault(fault, PLACE, { type: 'm5.large', hasDisk: true })).toMatchObject({
      message,
      scope: 'zone',
    });
    expect(describeFault(fault, PLACE, { type: 'm5.large', hasDisk: false })).toBe(fault);
  });

  it('of any other fault, or without a region, is that of the provider', () => {
    const machine = { type: 'm5.large', hasDisk: true };
    const quota = new ComputeDriverError('X', 'x', { kind: 'quota' });
    expect(describeFault(quota, { ...PLACE, region: null }, machine)).toBe(quota);
    const denied = new ComputeDriverError('X', 'x', { kind: 'denied' });
    expect(describeFault(denied, PLACE, machine)).toBe(denied);
  });
});
