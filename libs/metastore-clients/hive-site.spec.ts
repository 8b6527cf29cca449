import { configurationXml } from '../../test/harness/configuration-xml';
import { ConfigurationFileError, MAX_FILE_BYTES } from './configuration-file';
import { type HiveSiteFiles, parseHiveSite } from './hive-site';

const URIS = 'hive.metastore.uris';
const URI = 'thrift://metastore.example.org:9083';

function hive(properties: Record<string, string>, more: Partial<HiveSiteFiles> = {}) {
  return parseHiveSite({ hiveSiteXml: configurationXml({ [URIS]: URI, ...properties }), ...more });
}

function reasonOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationFileError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a hive-site.xml', () => {
  it('is read in the form that Hadoop writes', () => {
    const hiveSiteXml = `\uFEFF<?xml version="1.0" encoding="UTF-8"?>
      <?xml-stylesheet type="text/xsl" href="configuration.xsl"?>
      <!-- a comment -->
      <configuration>
        <property>
          <name> hive.metastore.uris </name>
          <value>thrift://one.example.org:9083, thrift://[2001:db8::1]:9084</value>
          <description>of <b/></description>
        </property>
      </configuration>`;
    // A description contains only text.
    expect(reasonOf(() => parseHiveSite({ hiveSiteXml }))).toContain('configuration > property > description > b');
    expect(parseHiveSite({ hiveSiteXml: hiveSiteXml.replace('<b/>', 'two &amp; <![CDATA[<more>]]>') })).toEqual({
      uris: [
        { host: 'one.example.org', port: 9083 },
        { host: '2001:db8::1', port: 9084 },
      ],
      login: { kind: 'none', tellsUser: true },
      properties: new Map([[URIS, 'thrift://one.example.org:9083,thrift://[2001:db8::1]:9084']]),
    });
  });

  it('gives jobs only the listed keys, of all files', () => {
    const { properties, ...rest } = hive(
      {
        'hive.metastore.warehouse.dir': 's3a://bucket/warehouse',
        'hive.metastore.sasl.enabled': 'true',
        'hive.metastore.kerberos.principal': 'hive/_HOST@EXAMPLE.ORG',
        'javax.jdo.option.ConnectionPassword': 'word',
        'hive.exec.scratchdir': '/tmp/hive',
      },
      {
        coreSiteXml: configurationXml({
          'fs.s3a.secret.key': 'a&lt;b',
          'fs.defaultFS': 'hdfs://nn',
          'fs.s3a.bucket.logs.endpoint': 's3:9000',
        }),
        hdfsSiteXml: configurationXml({ 'dfs.nameservices': 'one', 'dfs.namenode.rpc-address.one.nn1': 'nn1:8020' }),
      },
    );
    expect(rest).toMatchObject({ login: { kind: 'kerberos', service: 'hive/_HOST@EXAMPLE.ORG' } });
    expect(Object.fromEntries(properties)).toEqual({
      [URIS]: URI,
      'hive.metastore.warehouse.dir': 's3a://bucket/warehouse',
      'hive.metastore.sasl.enabled': 'true',
      'hive.metastore.kerberos.principal': 'hive/_HOST@EXAMPLE.ORG',
      'fs.s3a.secret.key': 'a<b',
      'fs.s3a.bucket.logs.endpoint': 's3:9000',
      'dfs.nameservices': 'one',
      'dfs.namenode.rpc-address.one.nn1': 'nn1:8020',
    });
  });

  it.each([
    ['', 'not well-formed'],
    ['<configuration>', 'not well-formed'],
    ['<configuration/><configuration/>', 'not well-formed'],
    ['<configuration>&bomb;</configuration>', 'not well-formed'],
    ['<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><configuration>&b;</configuration>', 'DOCTYPE'],
    ['<!DOCTYPE c SYSTEM "file:///etc/passwd"><configuration/>', 'DOCTYPE'],
    ['<settings/>', 'has the element "settings"'],
    ['<configuration><configuration/></configuration>', 'has the element'],
    [
      '<configuration><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/></configuration>',
      'includes',
    ],
    ['<configuration><include href="other.xml"/></configuration>', 'includes another file'],
    ['<configuration>text</configuration>', 'has text outside'],
    ['<configuration><property name="a" value="b"/></configuration>', 'attributes'],
    ['<configuration><property><name>a</name></property></configuration>', 'has no value'],
    ['<configuration><property><value>a</value></property></configuration>', 'has no name'],
    ['<configuration><property><name>a</name><name>b</name><value/></property></configuration>', 'two elements'],
    ['<configuration><property><name>a b</name><value/></property></configuration>', 'printable ASCII'],
    [`${'<a>'.repeat(80_000)}`, 'has the element "a"'],
    [`<configuration>${' '.repeat(MAX_FILE_BYTES)}</configuration>`, 'larger than 256 KiB'],
    [`<configuration>${'ä'.repeat(MAX_FILE_BYTES / 2)}</configuration>`, 'larger than 256 KiB'],
  ])('is refused, case %#, with its reason', (hiveSiteXml, reason) => {
    expect(reasonOf(() => parseHiveSite({ hiveSiteXml }))).toContain(reason);
  });

  it('must have each property once, and at most 2000', () => {
    const twice = `<configuration>${'<property><name>a</name><value>b</value></property>'.repeat(2)}</configuration>`;
    expect(reasonOf(() => parseHiveSite({ hiveSiteXml: twice }))).toContain('appears twice');
    const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`k${index}`, 'v']));
    expect(reasonOf(() => hive(many))).toContain('more than 2000');
  });

  it.each([
    ['thrift://one:9083,http://two:9083'],
    ['thrift://one'],
    ['thrift://user@one:9083'],
    ['thrift://one:0'],
    ['thrift://one:70000'],
    ['thrift://one:9083/path'],
    ['thrift://one:9083,'],
    ['thrift://one:9083,thrift://one:9083'],
    [Array.from({ length: 11 }, (_, index) => `thrift://h${index}:1`).join(',')],
  ])('is refused with the uris %s', (uris) => {
    expect(reasonOf(() => hive({ [URIS]: uris }))).toContain(URIS);
  });

  it.each([
    [{}, { kind: 'none', tellsUser: true }],
    [{ 'hive.metastore.execute.setugi': 'false' }, { kind: 'none', tellsUser: false }],
    [{ 'metastore.client.auth.mode': 'plain' }, { kind: 'plain' }],
    [{ 'hive.metastore.client.auth.mode': 'PLAIN' }, { kind: 'plain' }],
    [
      { 'metastore.client.auth.mode': 'KERBEROS', 'hive.metastore.kerberos.principal': 'hive/a@B' },
      { kind: 'kerberos', service: 'hive/a@B' },
    ],
  ])('determines the login of clients from %j', (properties, login) => {
    expect(hive(properties)).toMatchObject({ login });
  });

  it('must have uris, and for Kerberos the principal of the servers', () => {
    expect(reasonOf(() => parseHiveSite({ hiveSiteXml: '<configuration/>' }))).toContain(`${URIS} is required`);
    expect(reasonOf(() => hive({ 'hive.metastore.sasl.enabled': 'true' }))).toContain('kerberos.principal is required');
  });

  it.each([
    ['javax.jdo.option.ConnectionPassword', '${env.HOME}', 'variable'],
    ['a', '${user.name}', 'variable'],
    ['hive.metastore.warehouse.dir', 'file:///etc', 'must be a directory'],
    ['hive.metastore.warehouse.dir', 's3a://user:word@bucket/\nx', 'must be a directory'],
    ['hive.metastore.use.SSL', 'true', 'without TLS'],
    ['hive.metastore.kerberos.keytab.file', '/etc/hive.keytab', 'a file of the machine'],
    ['hive.metastore.truststore.path', '/etc/hive.jks', 'a file of the machine'],
    ['hadoop.security.credential.provider.path', 'jceks://file/etc/x', 'a store of keys'],
    ['fs.s3a.security.credential.provider.path', 'jceks://file/etc/x', 'a store of keys'],
    ['hive.metastore.pre.event.listeners', 'com.example.Listener', 'code to load'],
    ['hive.metastore.filter.hook', 'com.example.Hook', 'code to load'],
    ['hive.exec.pre.hooks', 'com.example.Hook', 'code to load'],
    ['fs.s3a.impl', 'com.example.Fs', 'code to load'],
    ['fs.s3a.aws.credentials.provider', 'com.example.Provider', 'code to load'],
    ['hadoop.security.group.mapping', 'com.example.Mapping', 'code to load'],
    ['hive.aux.jars.path', 's3a://bucket/x.jar', 'code to load'],
    ['hadoop.rpc.socket.factory.class.default', 'com.example.Factory', 'code to load'],
    ['some.key', 'file:/etc/passwd', 'a local file'],
  ])('is refused with %s=%s', (key, value, reason) => {
    expect(reasonOf(() => hive({ [key]: value }))).toContain(reason);
  });

  it.each(['coreSiteXml', 'hdfsSiteXml'] as const)('has the same rules for what it comes with: %s', (file) => {
    expect(reasonOf(() => hive({}, { [file]: configurationXml({ 'fs.x.impl': 'com.example.Fs' }) }))).toContain(
      'code to load',
    );
    expect(reasonOf(() => hive({}, { [file]: configurationXml({ a: '${env.X}' }) }))).toContain('variable');
  });

  it('may name only failover proxies of Hadoop for HDFS', () => {
    const key = 'dfs.client.failover.proxy.provider.one';
    const read = (value: string) => reasonOf(() => hive({}, { hdfsSiteXml: configurationXml({ [key]: value }) }));
    expect(read('com.example.Provider')).toContain("one of Hadoop's own");
    expect(read('org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider')).toBe('accepted');
  });

  it('shows no value in a refusal', () => {
    const broken = configurationXml({ 'fs.s3a.secret.key': 'hush' }).replace('</value>', '</valu>');
    for (const read of [
      () => hive({}, { coreSiteXml: broken }),
      () => hive({ a: 'file:hush' }),
      () => hive({ 'hive.metastore.connect.retries': 'hush' }),
      () => hive({ [URIS]: 'thrift://hush' }),
    ]) {
      expect(reasonOf(read)).toMatch(/^(hive|core)-site\.xml: (?!.*hush)/);
    }
  });
});
