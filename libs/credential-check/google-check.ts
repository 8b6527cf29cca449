import { sign } from 'jsonwebtoken';
import { type CheckContext, type CredentialCheck, notWorking } from './credential-check';
import { checkByToken } from './token-request';

/** Google's own, whatever TOKEN_URI says: a signed assertion belongs in nobody else's hands. */
export const GOOGLE_TOKEN_ENDPOINT = 'https://oauth2.googleapis.com/token';

/** A right that every service account may ask for. */
const SCOPE = 'https://www.googleapis.com/auth/userinfo.email';

/** Google service account: a token for an assertion signed with its key (RFC 7523), which needs no permission. */
export async function checkGoogleAccount(
  keys: { clientEmail: string; privateKey: string; privateKeyId: string },
  endpoint: string,
  context: CheckContext,
): Promise<CredentialCheck> {
  const assertion = signedAssertion(keys);
  if (assertion === null) return notWorking('PRIVATE_KEY is not an RSA key of 2048 bits or more.');
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  // The assertion counts only as its issuer's, so that is who was checked.
  return checkByToken(endpoint, form, keys.clientEmail, [keys.privateKey, assertion], context);
}

function signedAssertion(keys: { clientEmail: string; privateKey: string; privateKeyId: string }): string | null {
  try {
    return sign({ scope: SCOPE }, keys.privateKey, {
      algorithm: 'RS256',
      keyid: keys.privateKeyId,
      issuer: keys.clientEmail,
      audience: GOOGLE_TOKEN_ENDPOINT,
      expiresIn: '10m',
    });
  } catch {
    return null;
  }
}
