import { CredentialChecker } from '../../libs/credential-check/credential-checker';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { outbound, storeServers } from './harness/store-servers';

const REFUSED = { working: false, checkedAs: null };

const { name, url: s3Url, accessKeyId, secretAccessKey } = storeServers().s3;

describe(`credentials of a custom store, at ${name}`, () => {
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

  it('are not sent to this machine by a policy that does not say so', async () => {
    const production = new OutboundPolicy({ schemes: ['https', 'http'], allowedClasses: ['private'] });
    await expect(check({}, production)).rejects.toThrow('loopback');
    const named = s3Url.replace('127.0.0.1', 'localhost');
    await expect(check({ S3_ENDPOINT: named }, production)).rejects.toThrow('loopback');
  });
});

/** moto checks signatures once it is told to; the tests that follow in this run find it as it was. */
describe('keys of AWS, at moto', () => {
  const { url } = storeServers().moto;
  const checker = new CredentialChecker(outbound, { clouds: { awsSts: url } });
  const check = (AWS_ACCESS_KEY_ID: string, AWS_SECRET_ACCESS_KEY: string) =>
    checker.check({
      provider: 'aws',
      credentials: { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION: 'eu-west-1' },
    });
  const username = `spark-${Date.now()}`;
  let keys: { id: string; secret: string };

  beforeAll(async () => {
    await iam({ Action: 'CreateUser', UserName: username });
    const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 'sts:*', Resource: '*' }] };
    const policy = { PolicyName: 'sts', PolicyDocument: JSON.stringify(document) };
    await iam({ Action: 'PutUserPolicy', UserName: username, ...policy });
    const made = await iam({ Action: 'CreateAccessKey', UserName: username });
    keys = { id: textOf(made, 'AccessKeyId'), secret: textOf(made, 'SecretAccessKey') };
    await authenticate('0');
  });

  afterAll(() => authenticate('inf'));

  it('work when they are right, and are said to be whose they are', async () => {
    const answer = await check(keys.id, keys.secret);
    expect(answer).toMatchObject({ working: true, reason: null });
    expect(answer.checkedAs).toMatch(new RegExp(`^arn:aws:iam::\\d{12}:user/${username}$`));
  });

  it('do not with another key or another secret', async () => {
    const unknown = expect.stringContaining('InvalidClientTokenId');
    expect(await check('AKIAIOSFODNN7EXAMPLE', keys.secret)).toEqual({ ...REFUSED, reason: unknown });
    const signature = expect.stringContaining('SignatureDoesNotMatch');
    expect(await check(keys.id, 'a-wrong-secret')).toEqual({ ...REFUSED, reason: signature });
  });

  async function iam(parameters: Record<string, string>): Promise<string> {
    // moto finds the service by the scope of the signature, which it does not check yet.
    const scope =
      'AWS4-HMAC-SHA256 Credential=setup/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0';
    const body = new URLSearchParams({ Version: '2010-05-08', ...parameters });
    const response = await fetch(url, { method: 'POST', headers: { authorization: scope }, body });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  async function authenticate(afterCalls: string): Promise<void> {
    const response = await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: afterCalls });
    if (!response.ok) throw new Error(await response.text());
  }
});

function textOf(xml: string, element: string): string {
  return new RegExp(`<${element}>([^<]+)</${element}>`).exec(xml)?.[1] ?? '';
}
