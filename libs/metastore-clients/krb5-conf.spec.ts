import { ConfigurationFileError } from './configuration-file';
import { parseKrb5Conf } from './krb5-conf';

const REALMS = '[realms]\nEXAMPLE.ORG = {\nkdc = kdc.example.org\n}\n';

function reasonOf(text: string): string {
  try {
    parseKrb5Conf(text);
  } catch (error) {
    if (error instanceof ConfigurationFileError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a krb5.conf', () => {
  it('is read for its realms, their servers and their domains', () => {
    const text = `# a remark
      [logging]
        default = FILE:/var/log/krb5libs.log
      [libdefaults]
        default_realm = EXAMPLE.ORG
        default_ccache_name = FILE:/tmp/krb5cc
      [realms]
        EXAMPLE.ORG = {
          kdc = kdc1.example.org:1088
          kdc = 10.0.0.5
          admin_server = admin.example.org
          auth_to_local_names = {
            kdc = not.a.server
          }
        }
      [domain_realm]
        .example.org = EXAMPLE.ORG
        host.example.org = "EXAMPLE.ORG"\r\n`;
    expect(parseKrb5Conf(text)).toEqual({
      defaultRealm: 'EXAMPLE.ORG',
      realms: [
        {
          name: 'EXAMPLE.ORG',
          kdcs: [
            { host: 'kdc1.example.org', port: 1088 },
            { host: '10.0.0.5', port: 88 },
          ],
          adminServers: [{ host: 'admin.example.org', port: 749 }],
        },
      ],
      domainRealm: new Map([
        ['.example.org', 'EXAMPLE.ORG'],
        ['host.example.org', 'EXAMPLE.ORG'],
      ]),
    });
  });

  it.each([
    ['', 'has no realm'],
    ['[realms]\nA = {\n}', 'has no kdc'],
    [`include /etc/krb5.conf\n${REALMS}`, 'includes other files'],
    [`${REALMS}includedir /etc/krb5.conf.d`, 'includes other files'],
    [`module /tmp/x.so:rest\n${REALMS}`, 'includes other files'],
    [`${REALMS}[plugins]\nclpreauth = {\nmodule = x:/tmp/x.so\n}`, 'section [plugins]'],
    [`${REALMS}[dbmodules]\na = b`, 'section [dbmodules]'],
    [`kdc = a\n${REALMS}`, 'outside of any section'],
    [`${REALMS}}`, 'not opened'],
    ['[realms]\nA = {\nkdc = a', 'not closed'],
    [`[realms]\nA = {\n${REALMS}`, 'not closed before'],
    ['[realms]\nA = { kdc = a }', 'lines of their own'],
    ['[realms]\nA = {\nkdc = https://proxy.example.org/KdcProxy\n}', 'must be host or host:port'],
    ['[realms]\nA = {\nkdc = /var/run/kdc.sock\n}', 'must be host or host:port'],
    ['[realms]\nA/B = {\nkdc = a\n}', 'not the name of a realm'],
    [`${REALMS}[libdefaults]\ndefault_realm = A B`, 'not the name of a realm'],
    [`${REALMS}[domain_realm]\n.a = A\n`.replace('.a', '*'), 'not a domain'],
    [`${REALMS}what is this`, 'not of the form'],
    [`[realms]\nA = {\n${'kdc = a\n'.repeat(11)}}`, 'more than 10 entries of kdc'],
    [Array.from({ length: 11 }, (_, i) => `[realms]\nR${i} = {\nkdc = a\n}\n`).join(''), 'more than 10 realms'],
    [`[realms]\n${'a = {\n'.repeat(100_000)}`, 'larger than'],
    [`[realms]\n${'a = {\n'.repeat(10)}`, 'too deeply'],
  ])('is refused, case %#, with its reason', (text, reason) => {
    expect(reasonOf(text)).toContain(reason);
  });
});
