import { hasPassword, namesSecret, withoutSecretsInText } from './redaction';

describe('namesSecret', () => {
  it.each([
    'spark.hadoop.fs.s3a.secret.key',
    'fs.s3a.access.key',
    'fs.azure.account.key.store.dfs.core.windows.net',
    'fs.azure.sas.container.account',
    'javax.jdo.option.ConnectionPassword',
    'spark.ssl.keyPasswd',
    'API_TOKEN',
    'api_key',
    'DB_PASS',
    'privateKey',
    'credentials',
  ])('is true for %s', (name) => {
    expect(namesSecret(name)).toBe(true);
  });

  it.each(['spark.executor.memory', 'bypass', 'compass', 'kansas.rows', 'passenger_count', 'key', 'description'])(
    'is false for %s',
    (name) => {
      expect(namesSecret(name)).toBe(false);
    },
  );
});

describe('hasPassword', () => {
  it.each([
    ['jdbc:postgresql://ada:1234@db/sales', true],
    ['s3a://bucket/folder@2026', false],
  ])('%s', (text, expected) => {
    expect(hasPassword(text)).toBe(expected);
  });
});

describe('withoutSecretsInText', () => {
  it.each([
    ['--table sales --password hunter2 --rows 5', '--table sales --password [secret] --rows 5'],
    ['-Ddb.password="hunter2 x" -Xmx1g', '-Ddb.password=[secret] -Xmx1g'],
    ['{"token":"hunter2","rows":5}', '{"token":[secret],"rows":5}'],
    ['["--api-key","hunter2","5"]', '["--api-key",[secret],"5"]'],
    [`conf.set("fs.s3a.secret.key", "hunter2")`, `conf.set("fs.s3a.secret.key", [secret])`],
    [`OPTIONS (password 'hunter2')`, 'OPTIONS (password [secret])'],
    ['curl -H "Authorization: Bearer hunter2"', 'curl -H "Authorization: Bearer [secret]"'],
    ['https://ada:hunter2@example.org/x', 'https://ada:[secret]@example.org/x'],
    ['run eyJhbGciOi.eyJzdWIi.hunter2 now', 'run [secret] now'],
    ['the password is in the vault', 'the password is in the vault'],
    ['a table of 5 rows, 3 columns', 'a table of 5 rows, 3 columns'],
  ])('%s', (text, expected) => {
    expect(withoutSecretsInText(text)).toBe(expected);
  });

  it('reads texts of a thousand characters in a moment', () => {
    const started = performance.now();
    for (const part of ['token', '-', 'a:', '://:', 'Basic ', 'eyJa', 'pass ']) {
      withoutSecretsInText(part.repeat(1_000 / part.length));
    }
    expect(performance.now() - started).toBeLessThan(500);
  });
});
