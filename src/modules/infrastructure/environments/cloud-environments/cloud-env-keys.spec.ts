import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { acceptedValues } from '../../../../platform/http/resources/accepted-keys';
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
  const policy = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['private'] });

  it('accepts URLs, and local:// if it is enabled', () => {
    expect(() => assertEndpoint('https://pve.example.org:8006', false, policy)).not.toThrow();
    expect(() => assertEndpoint('http://10.0.0.1', false, policy)).not.toThrow();
    expect(() => assertEndpoint('https://pve.example.org/proxy/api2/json', false, policy)).not.toThrow();
    expect(() => assertEndpoint('local://', true, policy)).not.toThrow();
    expect(() => assertEndpoint('local://', false, policy)).toThrow(
      expect.objectContaining({ code: 'CLOUD_ENV.LOCAL_DISABLED' }),
    );
  });

  it.each([
    ...['pve.example.org', 'ftp://pve', 'local://node', 'local:// ', 'https://', 'https://root:secret@pve.example.org'],
    ...['https://pve.example.org ', 'https://pve.example.org\n', 'https://pve.example.org\t:8006'],
    ...['https://pve.example.org/?a=secret', 'https://pve.example.org/#secret'],
  ])('refuses %j', (endpoint) => {
    expect(() => assertEndpoint(endpoint, true, policy)).toThrow(
      expect.objectContaining({ code: 'CLOUD_ENV.ENDPOINT_INVALID', message: expect.not.stringContaining('secret') }),
    );
  });

  it.each([
    ['https://127.0.0.1:8006', 'loopback'],
    ['https://localhost', 'loopback'],
    ['https://2130706433', 'loopback'],
    ['https://[fe80::1]', 'link-local'],
    ['http://169.254.169.254/latest', 'metadata'],
  ])('refuses %s by the outbound policy', (endpoint, reason) => {
    expect(() => assertEndpoint(endpoint, true, policy)).toThrow(
      expect.objectContaining({ code: 'CLOUD_ENV.ENDPOINT_REFUSED', message: expect.stringContaining(reason) }),
    );
  });

  it('refuses a scheme that the outbound policy does not allow', () => {
    const encrypted = new OutboundPolicy({ schemes: ['https'], allowedClasses: [] });
    expect(() => assertEndpoint('http://pve.example.org', false, encrypted)).toThrow(
      expect.objectContaining({ code: 'CLOUD_ENV.ENDPOINT_REFUSED' }),
    );
  });
});
