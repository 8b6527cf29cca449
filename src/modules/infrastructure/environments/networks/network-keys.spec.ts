import { acceptedValues } from '../../../../platform/http/resources/accepted-keys';
import { CLOUD_PROVIDERS } from '../../../foundation/reference-data';
import { NETWORK_KEYS } from './network-keys';

const everything = {
  network_project_id: 'project',
  network_name: 'net',
  network_tags: ['a'],
  subnet: '10.0.0.0/24',
  availability_zone_id: 1,
  bridge: 'vmbr0',
  model: 'virtio',
};

describe('NETWORK_KEYS', () => {
  it.each(['GCP', 'AWS', 'Azure'] as const)('%s stores all keys except those of OnPrem', (provider) => {
    const { bridge: _bridge, model: _model, ...expected } = everything;
    expect(acceptedValues(NETWORK_KEYS[provider], everything)).toEqual(expected);
  });

  it('OCI has no project', () => {
    const { bridge: _bridge, model: _model, network_project_id: _project, ...expected } = everything;
    expect(acceptedValues(NETWORK_KEYS.OCI, everything)).toEqual(expected);
  });

  it('OnPrem stores bridge and model only', () => {
    expect(acceptedValues(NETWORK_KEYS.OnPrem, everything)).toEqual({ bridge: 'vmbr0', model: 'virtio' });
  });

  it.each(CLOUD_PROVIDERS)('%s accepts what it requires', (provider) => {
    expect(NETWORK_KEYS[provider].accepted).toEqual(expect.arrayContaining([...NETWORK_KEYS[provider].required]));
  });
});
