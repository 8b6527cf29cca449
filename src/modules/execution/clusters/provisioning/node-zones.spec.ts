import {
  ComputeDriverError,
  type FaultKind,
  type FaultScope,
} from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';
import { blockedForMs, type Choice, inFull, nextZone, noRoom, nowhere } from './node-zones';

const PLACE: Place = {
  ...{ account: null, region: 'r', zone: 'ra', networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

const choice = (values: Partial<Choice> = {}): Choice => ({
  ...{ place: PLACE, zones: ['ra', 'rb', 'rc'], tries: {}, blocked: new Set() },
  ...values,
});
const tried = (...zones: string[]) => Object.fromEntries(zones.map((zone) => [zone, `none in ${zone}`]));
const at = (zone: string | null): Place => ({ ...PLACE, zone });

describe('what a fault says of a place', () => {
  it.each<[FaultKind, FaultScope, string | null, ReturnType<typeof noRoom>]>([
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
    expect(noRoom({ kind, scope }, at(zone), at('ra'))).toBe(expected);
    expect(noRoom({ kind, scope }, { region: null, zone }, at('ra'))).toBeNull();
  });

  it('holds for minutes, at Azure longer', () => {
    expect(blockedForMs(CLOUD_PROVIDER_ID.AWS)).toBe(180_000);
    expect(blockedForMs(CLOUD_PROVIDER_ID.Azure)).toBe(600_000);
  });
});

describe('the zone that is asked next', () => {
  it.each<[string, Partial<Choice>, string | null]>([
    ['the one after its own', {}, 'rb'],
    ['in turn', { place: at('rc') }, 'ra'],
    ['none twice', { place: at('rb'), tries: tried('ra', 'rb') }, 'rc'],
    ['none when all were tried', { place: at('rc'), tries: tried('ra', 'rb', 'rc') }, null],
    ['none that is blocked', { blocked: new Set(['rb']) }, 'rc'],
    ['none when all others are blocked', { blocked: new Set(['rb', 'rc']) }, null],
    ['none of a region that is blocked', { blocked: 'all' }, null],
    ['any, where the provider chose itself', { place: at(null) }, 'ra'],
    ['none, where its own is the only one', { zones: ['ra'] }, null],
    ['none, where the region has no zones', { place: at(null), zones: [] }, null],
    ['from its own on, though that is not among them', { place: at('rb'), zones: ['ra', 'rc'] }, 'rc'],
  ])('is %s', (_what, values, expected) => {
    expect(nextZone(choice(values))).toBe(expected);
  });

  it('is another one each time, until there is none', () => {
    const seen: string[] = [];
    for (let zone: string | null = 'rb'; zone !== null && seen.length < 9;) {
      seen.push(zone);
      zone = nextZone(choice({ place: at(zone), tries: tried(...seen) }));
    }
    expect(seen).toEqual(['rb', 'rc', 'ra']);
  });
});

describe('the words', () => {
  it('for a region without room name type, market, region, and what each zone said', () => {
    const words = nowhere(choice({ tries: tried('ra', 'rc'), blocked: new Set(['rb', 'ra']) }), 'm5.large', 'spot');
    expect(words).toBe(
      'No spot machine m5.large is to be had in the region r. ra: none in ra; rc: none in rc; without room a moment ago: rb',
    );
  });

  it.each<[string, string, FaultScope, string]>([
    [
      'VcpuLimitExceeded',
      'VcpuLimitExceeded: limit of 0',
      'region',
      'A quota of the account does not allow a machine m5.large in the region r. VcpuLimitExceeded: limit of 0',
    ],
    [
      'GOOGLE.QUOTA_EXCEEDED',
      "Quota 'CPUS' exceeded.",
      'region',
      "A quota (QUOTA_EXCEEDED) of the account does not allow a machine m5.large in the region r. Quota 'CPUS' exceeded.",
    ],
    [
      'AZURE.OperationNotAllowed',
      'OperationNotAllowed: cores',
      'region',
      'A quota of the account does not allow a machine m5.large in the region r. OperationNotAllowed: cores',
    ],
    [
      'GOOGLE.QUOTA_EXCEEDED',
      "Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.",
      'account',
      "A quota (QUOTA_EXCEEDED) of the account, in all regions, does not allow a machine m5.large in the region r. Quota 'GPUS_ALL_REGIONS' exceeded. Limit: 0.0 globally.",
    ],
  ])('for the quota %s name it and the region', (code, message, scope, expected) => {
    const fault = new ComputeDriverError(code, message, { kind: 'quota', scope });
    const named = inFull(fault, PLACE, { type: 'm5.large', hasDisk: false });
    expect(named.message).toBe(expected);
    expect(named).toMatchObject({ code, kind: 'quota', scope });
  });

  it('for a machine whose disk keeps it in a zone without room name that', () => {
    const fault = new ComputeDriverError('X', 'none left', { kind: 'capacity', scope: 'zone' });
    const words = 'No machine m5.large is to be had in ra, where the disk of the node is. none left';
    expect(inFull(fault, PLACE, { type: 'm5.large', hasDisk: true })).toMatchObject({ message: words, scope: 'zone' });
    expect(inFull(fault, PLACE, { type: 'm5.large', hasDisk: false })).toBe(fault);
  });

  it('for anything else, or without a region, are those of the provider', () => {
    const machine = { type: 'm5.large', hasDisk: true };
    const quota = new ComputeDriverError('X', 'x', { kind: 'quota' });
    expect(inFull(quota, { ...PLACE, region: null }, machine)).toBe(quota);
    const denied = new ComputeDriverError('X', 'x', { kind: 'denied' });
    expect(inFull(denied, PLACE, machine)).toBe(denied);
  });
});
