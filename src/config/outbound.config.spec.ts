import { ConfigurationError, EnvReader } from './env-reader';
import { type OutboundConfig, readOutboundConfig } from './outbound.config';

function read(environment: Record<string, string>): OutboundConfig | readonly string[] {
  const env = new EnvReader(environment);
  const config = readOutboundConfig(env);
  try {
    env.assertValid();
    return config;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('readOutboundConfig', () => {
  it('allows encrypted calls to public and private addresses by default', () => {
    expect(read({})).toEqual({ schemes: ['https'], addresses: ['private'], networks: [] });
  });

  it('takes lists, and "none" for no further addresses', () => {
    const environment = {
      OUTBOUND_SCHEMES: 'https, http',
      OUTBOUND_ADDRESSES: 'private,loopback',
      OUTBOUND_NETWORKS: '10.1.0.0/16,fd00::1',
    };
    expect(read(environment)).toEqual({
      schemes: ['https', 'http'],
      addresses: ['private', 'loopback'],
      networks: ['10.1.0.0/16', 'fd00::1'],
    });
    expect(read({ OUTBOUND_ADDRESSES: 'none' })).toMatchObject({ addresses: [] });
  });

  it.each([
    ['OUTBOUND_SCHEMES', 'ftp'],
    ['OUTBOUND_ADDRESSES', 'metadata'],
    ['OUTBOUND_NETWORKS', '10.0.0.0/33'],
    ['OUTBOUND_NETWORKS', 'example.org'],
    ['OUTBOUND_NETWORKS', '10.0.0.0/8/8'],
  ])('refuses %s=%s', (name, value) => {
    expect(read({ [name]: value })).toEqual([expect.stringContaining(name)]);
  });
});
