import { sign } from 'jsonwebtoken';
import { isProject } from '../compute-drivers/google/google-names';
import { NODE_RIGHTS } from '../compute-drivers/google/google-rights';
import { type CheckContext, type CredentialCheck, notWorking, working } from './credential-check';
import { describeMissingRights } from './missing-rights';
import { checkByToken, parseGrants, send, withoutToken } from './token-request';

/** Google's endpoint, whatever TOKEN_URI says: a signed assertion must not be sent to another server. */
export const GOOGLE_TOKEN_ENDPOINT = 'https://oauth2.googleapis.com/token';

/** Returns the caller's permissions in a project, which needs no permission. */
export const GOOGLE_PROJECTS_ENDPOINT = 'https://cloudresourcemanager.googleapis.com';

/** A scope that every service account may request. */
const SCOPE = 'https://www.googleapis.com/auth/userinfo.email';
const RIGHTS_SCOPE = 'https://www.googleapis.com/auth/cloud-platform.read-only';

interface GoogleKeys {
  clientEmail: string;
  privateKey: string;
  privateKeyId: string;
  projectId: string;
}

interface GoogleEndpoints {
  token: string;
  projects: string;
}

/**
 * Checks a Google service account by requesting a token for an assertion signed with its key (RFC 7523), which needs no
 * permission. Also finds the permissions that a working account lacks to create nodes in its own project.
 */
export async function checkGoogleAccount(
  keys: GoogleKeys,
  { token, projects }: GoogleEndpoints,
  context: CheckContext,
): Promise<CredentialCheck> {
  const assertion = signed(keys, { scope: SCOPE, aud: GOOGLE_TOKEN_ENDPOINT });
  if (assertion === null) return notWorking('PRIVATE_KEY is not an RSA key of 2048 bits or more.');
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  // The assertion is valid only for its issuer, so the issuer is the checked account.
  const checked = await checkByToken(token, form, keys.clientEmail, [keys.privateKey, assertion], context);
  if (!checked.working || !isProject(keys.projectId)) return withoutToken(checked);
  const lacks = await describeMissingRights(`in ${keys.projectId}`, () => missingRights(keys, projects, context));
  return working(checked.checkedAs, lacks);
}

async function missingRights(keys: GoogleKeys, endpoint: string, context: CheckContext): Promise<string[]> {
  const bearer = signed(keys, { scope: RIGHTS_SCOPE, sub: keys.clientEmail }) ?? '';
  const url = new URL(`/v1/projects/${encodeURIComponent(keys.projectId)}:testIamPermissions`, endpoint);
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` };
  const body = JSON.stringify({ permissions: NODE_RIGHTS });
  const response = await send(url, { method: 'POST', headers, body }, context);
  const { permissions } = parseGrants(response, url.host, [keys.privateKey, bearer]);
  // A response without permissions omits the list.
  const granted = new Set<unknown>(Array.isArray(permissions) ? permissions : []);
  return NODE_RIGHTS.filter((right) => !granted.has(right));
}

function signed(keys: GoogleKeys, claims: { scope: string; aud?: string; sub?: string }): string | null {
  try {
    return sign(claims, keys.privateKey, {
      algorithm: 'RS256',
      keyid: keys.privateKeyId,
      issuer: keys.clientEmail,
      expiresIn: '10m',
    });
  } catch {
    return null;
  }
}
