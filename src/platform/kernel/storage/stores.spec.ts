import { EnvReader } from '../../../config/env-reader';
import { readStorageConfig } from '../../../config/storage.config';
import { openBlobStore, openLogStore } from './stores';
import { createLogger } from '../logging/logger';

function read(variables: Record<string, string>) {
  const env = new EnvReader(variables);
  const config = readStorageConfig(env);
  env.assertValid();
  return config;
}

describe('an invalid bucket of the platform', () => {
  it('is refused with all missing variables', () => {
    expect(() => read({ STORE: 'aws' })).toThrow(
      expect.objectContaining({
        problems: ['STORE_CREDENTIALS is required with a bucket', 'STORE_BUCKET is required'],
      }),
    );
  });

  it.each([
    [
      'STORE_CREDENTIALS',
      'logs',
      'AWS_DEFAULT_REGION=eu-west-1,AWS_ACCESS_KEY_ID=a',
      'AWS_SECRET_ACCESS_KEY is required: the credentials do not contain it.',
    ],
    ['STORE_BUCKET', 'a/b', 'AWS_DEFAULT_REGION=eu-west-1', 'A bucket name must consist of'],
  ])('is refused with the name of %s', (variable, STORE_BUCKET, STORE_CREDENTIALS, reason) => {
    const config = read({ STORE: 'aws', STORE_BUCKET, STORE_CREDENTIALS });
    const problems = [expect.stringContaining(`${variable} is not usable: ${reason}`)];
    const logger = createLogger('test', 'silent');
    for (const open of [() => openBlobStore(config), () => openLogStore(config, logger)])
      expect(open).toThrow(expect.objectContaining({ name: 'ConfigurationError', problems }));
  });
});
