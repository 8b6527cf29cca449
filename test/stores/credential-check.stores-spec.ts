import { CredentialChecker } from '../../libs/credential-check/credential-checker';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { outbound, storeServers } from './harness/store-servers';

const REFUSED = { working: false, checkedAs: null };

const { name, url: s3Url, accessKeyId, secretAccessKey } = storeServers().s3;

describe(`credentials of a custom store, checked with ${name}`, () => {
  const check = (changes: Record<string, string> = {}, policy = outbound) =>
    new CredentialChecker(policy).check({
      provider: 's3-compatible',
      credentials: {
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        S3_ENDPOINT: s3Url,
        ...changes,
      },
    });

  it('work when they are right', async () => {
    expect(await check()).toEqual({ working: true, checkedAs: expect.any(String), reason: null });
  });

  it('do not with another key or another secret', async () => {
    const unknown = expect.stringContaining('InvalidAccessKeyId');
    expect(await check({ AWS_ACCESS_KEY_ID: 'somebody-else' })).toEqual({ ...REFUSED, reason: unknown });
    const signature = expect.stringContaining('SignatureDoesNotMatch');
    expect(await check({ AWS_SECRET_ACCESS_KEY: 'a-wrong-secret' })).toEqual({ ...REFUSED, reason: signature });
  });

  it('are not sent to this machine unless the policy allows it', async () => {
    const production = new OutboundPolicy({ schemes: ['https', 'http'], allowedClasses: ['private'] });
    await expect(check({}, production)).rejects.toThrow('loopback');
    const named = s3Url.replace('127.0.0.1', 'localhost');
    await expect(check({ S3_ENDPOINT: named }, production)).rejects.toThrow('loopback');
  });
});

describe('keys of AWS, checked with moto', () => {
  const { url, user, ...keys } = storeServers().aws;
  const checker = new CredentialChecker(outbound, { clouds: { awsSts: url, awsEc2: url } });
  const check = (AWS_ACCESS_KEY_ID: string, AWS_SECRET_ACCESS_KEY: string) =>
    checker.check({
      provider: 'aws',
      credentials: { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION: 'eu-west-1' },
    });

  it('work when they are right, and the result names their owner', async () => {
    const answer = await check(keys.accessKeyId, keys.secretAccessKey);
    // These keys have permissions only for the store.
    const reason = expect.stringContaining('not authorized to perform: ec2:DescribeInstances') as string;
    expect(answer).toMatchObject({ working: true, reason });
    expect(answer.checkedAs).toMatch(new RegExp(`^arn:aws:iam::\\d{12}:user/${user}$`));
  });

  it('do not with another key or another secret', async () => {
    const unknown = expect.stringContaining('InvalidClientTokenId');
    expect(await check('AKIAIOSFODNN7EXAMPLE', keys.secretAccessKey)).toEqual({ ...REFUSED, reason: unknown });
    const signature = expect.stringContaining('SignatureDoesNotMatch');
    expect(await check(keys.accessKeyId, 'a-wrong-secret')).toEqual({ ...REFUSED, reason: signature });
  });
});
