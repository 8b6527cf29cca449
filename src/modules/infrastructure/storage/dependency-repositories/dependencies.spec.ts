import { checkPackages, checkRepositories, repositoryUrl } from './dependencies';

const thrownBy = (act: () => void): { code: string; message: string } | null => {
  try {
    act();
    return null;
  } catch (error) {
    return error as { code: string; message: string };
  }
};

describe('repositoryUrl', () => {
  it.each([
    ['https://repo.example', 'https://repo.example/'],
    ['https://repo.example/maven2', 'https://repo.example/maven2/'],
    ['https://repo.example/maven2/', 'https://repo.example/maven2/'],
    ['HTTPS://Repo.Example:443/Maven2', 'https://repo.example/Maven2/'],
    ['http://10.0.0.5:8081/a', 'http://10.0.0.5:8081/a/'],
    ['http://[fd00::5]/a', 'http://[fd00::5]/a/'],
    ['https://repo.example/../x', 'https://repo.example/x/'],
    ['https://repo.example/a/%2e%2e/x', 'https://repo.example/x/'],
    ['https://répo.example/é', 'https://xn--rpo-bma.example/%C3%A9/'],
    ['https://ｒepo.example', 'https://repo.example/'],
    ['https://@repo.example', 'https://repo.example/'],
  ])('normalizes %j to %j', (text, form) => {
    expect(repositoryUrl(text)).toBe(form);
    expect(repositoryUrl(form)).toBe(form);
  });

  it.each([
    ...['', 'repo', 'repo.example/maven2', '//repo.example', 'https://', 'https://re po.example'],
    ...['file:///etc', 'javascript:alert(1)', 'ftp://repo.example', 's3a://bucket/maven', 'jar:https://repo.example!/'],
    ...['https://user:pw@repo.example/', 'https://user@repo.example/', 'https://:pw@repo.example/'],
    ...['https://repo.example/?a=b', 'https://repo.example/?', 'https://repo.example/#a', 'https://repo.example/#'],
    ...['https://a.example,https://b.example', 'https://repo.example/\nhttps://b.example', 'https://repo.example/\t'],
    ...[
      ' https://repo.example',
      'https://repo.example/\u0000',
      'https://repo.example/\u00a0',
      'https:\\\\repo.example',
    ],
    ...['https://repo.example\\@other.example/', 'https://repo.example:port/', 'https://repo.example:70000/'],
  ])('refuses %j', (text) => expect(repositoryUrl(text)).toBeNull());

  it('accepts 1024 characters after normalization and refuses more', () => {
    const longest = `https://repo.example/${'a'.repeat(1024 - 22)}`;
    expect(repositoryUrl(longest)).toBe(`${longest}/`);
    expect(repositoryUrl(`${longest}a`)).toBeNull();
    expect(repositoryUrl(`https://repo.example/${'é'.repeat(500)}`)).toBeNull();
    expect(repositoryUrl(`https://repo.example/${'a'.repeat(5000)}`)).toBeNull();
  });
});

describe('checkPackages', () => {
  it.each([
    ...['a:b:1', 'org.apache.spark:spark-avro_2.12:3.5.3', 'io.delta/delta-spark_2.12:3.2.0', 'a:b:1.0-SNAPSHOT'],
    ...['a:b:1+2', '_a:b_c:v1~rc'],
  ])('accepts %j', (text) => expect(thrownBy(() => checkPackages('JOB_CONF', ['a:b:1', text]))).toBeNull());

  it.each([
    ...[
      '',
      'a',
      'a:b',
      'a:b:',
      ':b:1',
      'a::1',
      'a:b:1:2',
      'a/b/1',
      'a:b/1',
      'a:b:1,c:d:2',
      'a:b:1 ',
      ' a:b:1',
      'a b:c:1',
    ],
    ...['a:b:1\n', 'a:b:1\u0000', '-a:b:1', '--packages', 'a:-b:1', 'a:b:..', '../a:b:1', 'a:b:../../c', 'ä:b:1'],
    ...['a:b:[1,2)', 'a:b:*', 'a:b:${user.home}', `a:b:${'1'.repeat(5000)}`],
  ])('refuses %j', (text) =>
    expect(thrownBy(() => checkPackages('CLUSTER', [text]))).toMatchObject({
      code: 'CLUSTER.INVALID_PACKAGE',
      details: { package: text },
    }),
  );
});

describe('checkRepositories', () => {
  const allowed = new Set(['https://repo.example/maven2/']);

  it('accepts an allowed repository in any spelling', () => {
    const spellings = ['https://repo.example/maven2', 'HTTPS://REPO.example:443/a/../maven2/'];
    expect(thrownBy(() => checkRepositories('JOB_CONF', spellings, allowed))).toBeNull();
    for (const none of [[], null, undefined]) {
      expect(thrownBy(() => checkRepositories('JOB_CONF', none, allowed))).toBeNull();
    }
  });

  it('names the first repository that is not allowed, without its password', () => {
    const repositories = ['https://repo.example/maven2', 'https://me:pass@word@repo.example/maven2'];
    const refused = thrownBy(() => checkRepositories('JOB_CONF', repositories, allowed));
    expect(refused).toMatchObject({
      code: 'JOB_CONF.REPOSITORY_NOT_ALLOWED',
      details: { repository: 'https://repo.example/maven2' },
    });
    expect(refused?.message).not.toMatch(/pass|word/);
  });
});
