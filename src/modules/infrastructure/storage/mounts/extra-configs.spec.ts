import { assertExtraConfigs, extraConfigTexts } from './extra-configs';

type Provider = Parameters<typeof assertExtraConfigs>[1];

describe('extra_configs of a mount', () => {
  it('are converted to text', () => {
    const configs = {
      'fs.s3a.connection.maximum': 50,
      'fs.s3a.path.style.access': true,
      'fs.s3a.authoritative.path': 's3a://bucket/x',
    };
    expect(() => assertExtraConfigs(configs, 'AWS', null)).not.toThrow();
    expect(extraConfigTexts(configs)).toEqual({
      'fs.s3a.connection.maximum': '50',
      'fs.s3a.path.style.access': 'true',
      'fs.s3a.authoritative.path': 's3a://bucket/x',
    });
    expect(() => assertExtraConfigs(null, 'AWS', null)).not.toThrow();
    expect(extraConfigTexts(null)).toEqual({});
  });

  it('may name a key for SSE-KMS only', () => {
    const configs = { 'fs.s3a.encryption.key': 'arn:aws:kms:eu-central-1:1:key/2' };
    expect(() => assertExtraConfigs(configs, 'AWS', 'SSE-KMS')).not.toThrow();
    for (const encryption of [null, 'SSE-S3']) {
      expect(() => assertExtraConfigs(configs, 'AWS', encryption)).toThrow(/names a key of SSE-KMS/);
    }
  });

  it.each<[Provider, string, RegExp]>([
    ['AWS', 'spark.master', /begin with fs\.s3a\./],
    ['AWS', 'fs.defaultFS', /begin with fs\.s3a\./],
    ['AWS', 'fs.gs.project.id', /begin with fs\.s3a\./],
    ['GCP', 'fs.s3a.endpoint', /begin with fs\.gs\./],
    ['Azure', 'fs.s3a.endpoint', /begin with fs\.azure\./],
    ['AWS', 'fs.s3a.a=b\nspark.x', /begin with/],
    ['AWS', 'fs.s3a.', /begin with/],
    ['AWS', 'fs.s3a.access.key', /credentials belong/],
    ['OnPrem', 'fs.s3a.bucket.mine.secret.key', /credentials belong/],
    ['AWS', 'fs.s3a.session.token', /credentials belong/],
    ['AWS', 'fs.s3a.proxy.password', /credentials belong/],
    ['AWS', 'fs.s3a.aws.credentials.provider', /credentials belong/],
    ['GCP', 'fs.gs.auth.service.account.private.key.id', /credentials belong/],
    ['GCP', 'fs.gs.auth.type', /credentials belong/],
    ['Azure', 'fs.azure.account.key.one.dfs.core.windows.net', /credentials belong/],
    ['Azure', 'fs.azure.account.oauth2.client.id', /credentials belong/],
    ['Azure', 'fs.azure.sas.container.account', /credentials belong/],
    ['Azure', 'fs.azure.client-provided-encryption-key', /credentials belong/],
    ['AWS', 'fs.s3a.encryption.algorithm', /encryption_type_id chooses/],
    ['AWS', 'fs.s3a.server-side-encryption-algorithm', /encryption_type_id chooses/],
    ['GCP', 'fs.gs.encryption.key', /names a key of SSE-KMS/],
    ['AWS', 'fs.s3a.impl', /chooses the file system/],
  ])('of %s cannot contain %j', (provider, key, message) => {
    expect(() => assertExtraConfigs({ [key]: 'hunter2' }, provider, null)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'MOUNT.INVALID_EXTRA_CONFIGS',
        message: expect.stringMatching(message),
      }),
    );
    expect(() => assertExtraConfigs({ [key]: 'hunter2' }, provider, null)).not.toThrow(/hunter2/);
  });

  it.each([[null], [{}], [['x']], ['a\nb'], [NaN], ['x'.repeat(1001)]])('cannot have the value %j', (value) => {
    expect(() => assertExtraConfigs({ 'fs.s3a.endpoint': value }, 'AWS', null)).toThrow(
      /The value of fs\.s3a\.endpoint/,
    );
  });

  it('are limited to 100 properties', () => {
    const entries = Array.from({ length: 101 }, (_, index) => [`fs.s3a.x${index}`, 1]);
    expect(() => assertExtraConfigs(Object.fromEntries(entries), 'AWS', null)).toThrow(/at most 100/);
  });
});
