import { CLOUD_PROVIDER_ID } from '../reference-data/reference-data.contract';
import { computeDriverName, servedEnvironments } from './compute-support';

describe('the driver of a cloud environment', () => {
  it.each([
    ['OnPrem', 'local://', 'local'],
    ['OnPrem', 'https://pve.example.org:8006', null],
    ['OnPrem', null, null],
    ['AWS', 'local://', null],
    ['AWS', null, null],
  ] as const)('of %s at %p is %p', (provider, endpoint, expected) => {
    expect(computeDriverName(CLOUD_PROVIDER_ID[provider], endpoint)).toBe(expected);
  });

  it('is described for people', () => {
    expect(servedEnvironments()).toBe('OnPrem environments with the endpoint local://');
  });
});
