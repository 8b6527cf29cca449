import { acceptedValues } from '../../platform/resources/accepted-keys';
import { assertEndpoint, CLOUD_ENV_KEYS } from './cloud-env-keys';

const everything = {
  availability_zone_id: 1,
  cloud_project: 'project',
  endpoint: 'https://pve.example.org:8006',
  onprem_node_names: ['pve1'],
};

describe('CLOUD_ENV_KEYS', () => {
  it.each([
    ['GCP', ['availability_zone_id', 'cloud_project']],
    ['AWS', ['availability_zone_id', 'cloud_project']],
    ['Azure', ['availability_zone_id', 'cloud_project']],
    ['OCI', ['availability_zone_id']],
    ['OnPrem', ['endpoint', 'onprem_node_names']],
  ] as const)('%s stores %j', (provider, keys) => {
    expect(Object.keys(acceptedValues(CLOUD_ENV_KEYS[provider], everything)).sort()).toEqual([...keys]);
  });
});

describe('assertEndpoint', () => {
  it('accepts URLs, and local:// where it is enabled', () => {
    expect(() => assertEndpoint('https://pve.example.org:8006', false)).not.toThrow();
    expect(() => assertEndpoint('http://10.0.0.1', false)).not.toThrow();
    expect(() => assertEndpoint('local://', true)).not.toThrow();
    expect(() => assertEndpoint('local://', false)).toThrow(
      expect.objectContaining({ code: 'CLOUD_ENV.LOCAL_DISABLED' }),
    );
  });

  it.each(['pve.example.org', 'ftp://pve', 'local://node', 'https://', 'https://root:secret@pve.example.org'])(
    'refuses %s',
    (endpoint) => {
      expect(() => assertEndpoint(endpoint, true)).toThrow(
        expect.objectContaining({ code: 'CLOUD_ENV.ENDPOINT_INVALID', message: expect.not.stringContaining('secret') }),
      );
    },
  );
});
