import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';
import { computeDriverName, lacksAccelerator, lacksSpot, servedEnvironments } from './compute-support';

describe('the driver of a cloud environment', () => {
  it.each([
    ['OnPrem', 'local://', 'local'],
    ['OnPrem', 'https://pve.example.org:8006', 'proxmox'],
    ['OnPrem', 'http://pve.example.org:8006', null],
    ['OnPrem', null, null],
    ['AWS', null, 'aws'],
    ['Azure', null, 'azure'],
    ['GCP', null, 'google'],
    ['OCI', null, 'oci'],
  ] as const)('of %s at %p is %p', (provider, endpoint, expected) => {
    expect(computeDriverName(CLOUD_PROVIDER_ID[provider], endpoint)).toBe(expected);
  });

  it('names the accelerators that its nodes cannot have', () => {
    const lacking = (endpoint: string) =>
      (['turbo', 'cuda'] as const).filter((one) => lacksAccelerator(CLOUD_PROVIDER_ID.OnPrem, endpoint, one));
    expect([lacking('local://'), lacking('https://pve.example.org:8006')]).toEqual([['cuda'], ['cuda']]);
  });

  it('says if its nodes cannot be spot machines', () => {
    const shown = ['local://', 'https://pve.example.org:8006'].map((one) => lacksSpot(CLOUD_PROVIDER_ID.OnPrem, one));
    expect(shown).toEqual([false, true]);
  });

  it('has a description for users', () => {
    const shown = servedEnvironments().split(', ');
    expect(shown).toEqual(
      expect.arrayContaining(['OnPrem environments with the endpoint local://', 'GCP environments']),
    );
  });
});
