import type { LookupAddress } from 'node:dns';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { parseKrb5Conf } from '../krb5-conf';
import { clientConf, defaultRealmOf } from './client-conf';

const ADDRESSES: Record<string, string> = {
  'kdc1.example.org': '203.0.113.7',
  'kdc2.example.org': '2001:db8::7',
  'inside.example.org': '10.0.0.1',
  'metadata.example.org': '169.254.169.254',
};
const resolve = async (host: string): Promise<LookupAddress[]> => {
  const address = ADDRESSES[host];
  if (!address) throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' });
  return [{ address, family: address.includes(':') ? 6 : 4 }];
};
const outbound = new OutboundPolicy(
  { schemes: [], allowedClasses: [], allowedNetworks: ['2001:db8::/32', '203.0.113.0/24'] },
  resolve,
);
const conf = (...lines: string[]) => parseKrb5Conf(['[realms]', 'A.ORG = {', ...lines, '}'].join('\n'));

describe('clientConf', () => {
  it('contains the realms with the addresses of their KDCs, and no names to look up', async () => {
    const text = await clientConf(
      conf('kdc = kdc1.example.org', 'kdc = kdc2.example.org:1088', 'admin_server = x'),
      outbound,
    );
    expect(text).toContain('A.ORG = {\nkdc = 203.0.113.7:88\nkdc = [2001:db8::7]:1088\n}');
    expect(text).toContain('dns_lookup_kdc = false');
    expect(text).not.toMatch(/example\.org|admin_server|include/);
  });

  it('leaves out a KDC without an address if there is another', async () => {
    const text = await clientConf(conf('kdc = gone.example.org', 'kdc = kdc1.example.org'), outbound);
    expect(text).toContain('A.ORG = {\nkdc = 203.0.113.7:88\n}');
    await expect(clientConf(conf('kdc = gone.example.org'), outbound)).rejects.toMatchObject({
      fault: 'unreachable',
      message: 'The KDC of A.ORG cannot be reached (ENOTFOUND).',
    });
  });

  it.each(['inside.example.org', 'metadata.example.org', '10.0.0.1', '127.0.0.1', '[::1]'])(
    'has no KDC at %s unless the policy allows it',
    async (host) => {
      await expect(clientConf(conf(`kdc = ${host}`), outbound)).rejects.toMatchObject({
        fault: 'unreachable',
        message: expect.stringContaining('are refused'),
      });
    },
  );

  it('determines the realm of principals that name none', () => {
    expect(defaultRealmOf(conf('kdc = a'))).toBe('A.ORG');
    const two = parseKrb5Conf('[realms]\nA.ORG = {\nkdc = a\n}\nB.ORG = {\nkdc = b\n}');
    expect(defaultRealmOf(two)).toBeNull();
    expect(defaultRealmOf({ ...two, defaultRealm: 'B.ORG' })).toBe('B.ORG');
  });
});
