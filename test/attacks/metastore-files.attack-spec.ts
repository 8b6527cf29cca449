import { configurationXml } from '../harness/configuration-xml';
import { refusal } from '../medium/harness/people';
import { wholeApi } from '../medium/harness/test-api';
import { hiveSite } from '../samples/metastore-catalog';

const KIB = 1024;

/** A document type whose last entity expands to 10^9 characters. */
function entityBomb(): string {
  const entities = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`);
  return `<!DOCTYPE configuration [<!ENTITY e0 "aaaaaaaaaa">${entities.join('')}]>${hiveSite('&e9;')}`;
}

// Real: the whole API and PostgreSQL.
describe('hostile files of a Hive catalog', () => {
  const api = wholeApi();
  let token: string;

  beforeAll(async () => {
    token = await api.login();
  });

  it.each([
    ['an entity bomb', { hiveSiteXml: entityBomb() }],
    [
      'a file of the platform by an entity',
      {
        hiveSiteXml: `<!DOCTYPE a [<!ENTITY f SYSTEM "file:///proc/self/environ">]>${hiveSite('&f;')}`,
      },
    ],
    [
      'a file of the platform by an include',
      {
        hiveSiteXml: `<configuration><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/proc/self/environ" parse="text"/></configuration>`,
      },
    ],
    ['the environment of the API process', { hiveSiteXml: hiveSite('thrift://${env.DATABASE_URL}:9083') }],
    ['deep nesting', { hiveSiteXml: '<configuration>'.repeat(16 * KIB) }],
    ['many names', { hiveSiteXml: `<configuration>${'<property><name>a</name></property>'.repeat(7 * KIB)}` }],
    ['a class', { hiveSiteXml: hiveSite(), coreSiteXml: configurationXml({ 'fs.s3a.impl': 'evil.FileSystem' }) }],
    ['a hook', { hiveSiteXml: hiveSite(undefined, { 'hive.metastore.filter.hook': 'evil.Hook' }) }],
    [
      'a key store',
      {
        hiveSiteXml: hiveSite(),
        coreSiteXml: configurationXml({ 'hadoop.security.credential.provider.path': 'jceks://file/etc/keys' }),
      },
    ],
    [
      'a proxy class of HDFS',
      {
        hiveSiteXml: hiveSite(),
        hdfsSiteXml: configurationXml({ 'dfs.client.failover.proxy.provider.one': 'evil.Provider' }),
      },
    ],
    [
      'a library by krb5.conf',
      { hiveSiteXml: hiveSite(), krb5Conf: '[plugins]\nclpreauth = {\nmodule = x:/tmp/x.so\n}' },
    ],
    ['another file by krb5.conf', { hiveSiteXml: hiveSite(), krb5Conf: 'includedir /etc' }],
    ['the metadata service', { hiveSiteXml: hiveSite('thrift://0xA9FEA9FE:80') }],
  ])('reach nothing by %s', async (_what, files) => {
    const begun = performance.now();
    const answer = await api.call('POST', '/metastore/catalog/hive', { token, body: { name: 'evil', ...files } });
    expect(refusal(answer)).toEqual([
      400,
      expect.stringMatching(/^METASTORE_CATALOG\.(INVALID_FILE|ENDPOINT_REFUSED)$/),
    ]);
    expect(JSON.stringify(answer.body)).not.toContain('PATH=');
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
