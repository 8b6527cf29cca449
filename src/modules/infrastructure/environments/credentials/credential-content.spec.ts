import { generateKeyPairSync } from 'node:crypto';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { CREDENTIAL_TYPE_ID } from '../../../foundation/reference-data';
import { parseCredentials } from './credential-content';

const { onPremBasicAuth, customS3, ociApiKey, awsAccessSecretKeyPair, googleServiceAccount } = CREDENTIAL_TYPE_ID;
const encode = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64');

function refusal(typeId: number, encoded: string): DomainError {
  try {
    parseCredentials(typeId, encoded);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

const s3 = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'hush', S3_ENDPOINT: 'https://s3.example.org:9000' };

describe('parseCredentials', () => {
  it('returns the values of the keys of the type', () => {
    const basic = { USERNAME: 'root@pam', PASSWORD: ' päss ' };
    expect(parseCredentials(onPremBasicAuth, encode(basic))).toEqual(basic);
    expect(parseCredentials(customS3, encode(s3))).toEqual(s3);
  });

  it('reads the output of the base64 command, and base64 without padding', () => {
    const basic = { USERNAME: 'u'.repeat(100), PASSWORD: 'hush1' };
    const encoded = encode(basic);
    const [lines, bare] = [`${encoded.replaceAll(/.{76}/g, '$&\r\n')}\n`, encoded.replace(/=+$/, '')];
    expect(bare).not.toBe(encoded);
    for (const text of [lines, bare]) expect(parseCredentials(onPremBasicAuth, text)).toEqual(basic);
  });

  it.each([
    ['not base64', '{"USERNAME":"u"}', 'CREDENTIALS_CONF.NOT_BASE64'],
    [
      'wrong padding',
      encode({ USERNAME: 'u', PASSWORD: 'hush1' }).replace(/=*$/, '==='),
      'CREDENTIALS_CONF.NOT_BASE64',
    ],
    [
      'base64url',
      encode({ USERNAME: '>>>>>>', PASSWORD: '???????' }).replaceAll('/', '_'),
      'CREDENTIALS_CONF.NOT_BASE64',
    ],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x7b]).toString('base64'), 'CREDENTIALS_CONF.NOT_UTF8'],
    ['text', Buffer.from('PASSWORD=hush').toString('base64'), 'CREDENTIALS_CONF.NOT_JSON'],
    ['a list', encode(['hush']), 'CREDENTIALS_CONF.NOT_JSON'],
    ['null', encode(null), 'CREDENTIALS_CONF.NOT_JSON'],
    ['a missing key', encode({ PASSWORD: 'hush' }), 'CREDENTIALS_CONF.KEY_MISSING'],
    ['an unknown key', encode({ USERNAME: 'u', PASSWORD: 'hush', REALM: 'pam' }), 'CREDENTIALS_CONF.KEY_UNKNOWN'],
    ['lower-case keys', encode({ username: 'u', password: 'hush' }), 'CREDENTIALS_CONF.KEY_UNKNOWN'],
    ['an empty value', encode({ USERNAME: ' ', PASSWORD: 'hush' }), 'CREDENTIALS_CONF.VALUE_INVALID'],
    ['a number', encode({ USERNAME: 1, PASSWORD: 'hush' }), 'CREDENTIALS_CONF.VALUE_INVALID'],
  ])('refuses %s without repeating a value', (_what, encoded, code) => {
    const error = refusal(onPremBasicAuth, encoded);
    expect(error.code).toBe(code);
    expect(error.kind).toBe('invalid');
    expect(error.message + JSON.stringify(error.details)).not.toContain('hush');
  });

  it('names keys in the message, unless they may be misplaced secrets', () => {
    expect(refusal(onPremBasicAuth, encode({ USERNAME: 'u' })).message).toContain('no PASSWORD');
    expect(refusal(onPremBasicAuth, encode({ USERNAME: 'u', PASSWORD: 'p', REALM: 'r' })).message).toContain('REALM');
    expect(refusal(onPremBasicAuth, encode({ 's3cr3t!': 'u', PASSWORD: 'p' })).message).not.toContain('s3cr3t');
  });

  it('refuses keys of another type', () => {
    expect(refusal(awsAccessSecretKeyPair, encode({ ...s3, AWS_DEFAULT_REGION: 'eu' })).message).toContain(
      'S3_ENDPOINT',
    );
    expect(refusal(customS3, encode({ ...s3, AWS_DEFAULT_REGION: 'eu' })).message).toContain('AWS_DEFAULT_REGION');
  });

  it('requires an http or https URL as S3 endpoint', () => {
    const wrong = ['s3.example.org', 'ftp://s3.example.org', 'https://', 'file:///etc'];
    const withMore = [
      'https://s3.example.org\n',
      'https://s3.example.org ',
      'https://s3.example.org?a',
      'https://s3#a',
    ];
    for (const S3_ENDPOINT of [...wrong, ...withMore]) {
      expect(refusal(customS3, encode({ ...s3, S3_ENDPOINT })).message).toContain('S3_ENDPOINT');
    }
    const behindPath = { ...s3, S3_ENDPOINT: 'https://gateway.example.org/storage/s3' };
    expect(parseCredentials(customS3, encode(behindPath))).toEqual(behindPath);
  });

  it('requires valid private keys', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const oci = (key: string) =>
      encode({
        OCI_TENANCY_OCID: 't',
        OCI_USER_OCID: 'u',
        OCI_FINGERPRINT: 'f',
        OCI_PRIVATE_KEY: key,
        OCI_COMPARTMENT_OCID: 'c',
      });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(parseCredentials(ociApiKey, oci(pem))['OCI_PRIVATE_KEY']).toBe(pem);
    const wrong = [pem.slice(0, -40), publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'hush'];
    for (const key of wrong) expect(refusal(ociApiKey, oci(key)).message).toContain('OCI_PRIVATE_KEY');
    const google = {
      ...{ TYPE: 'service_account', PROJECT_ID: 'p', PRIVATE_KEY_ID: 'k', PRIVATE_KEY: 'hush', CLIENT_EMAIL: 'e' },
      ...{ CLIENT_ID: 'c', AUTH_URI: 'a', TOKEN_URI: 't', AUTH_PROVIDER_X509_CERT_URL: 'x', CLIENT_X509_CERT_URL: 'y' },
    };
    expect(refusal(googleServiceAccount, encode(google)).message).toContain('PRIVATE_KEY must be a private key');
    expect(parseCredentials(googleServiceAccount, encode({ ...google, PRIVATE_KEY: pem }))['TYPE']).toBe(
      'service_account',
    );
  });

  it('refuses an unknown type', () => {
    expect(refusal(99, encode({})).code).toBe('CREDENTIALS_CONF.TYPE_UNSUPPORTED');
  });
});
