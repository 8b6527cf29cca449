import { type CheckContext, type CredentialCheck, notWorking } from './credential-check';
import { checkByToken } from './token-request';

/** Of Azure's public cloud. */
export const AZURE_AUTHORITY = 'https://login.microsoftonline.com';

/** Rights in Azure's resource manager, which clusters are made through. */
const SCOPE = 'https://management.azure.com/.default';

/** Id or domain of a directory. It becomes a part of a path. */
const DIRECTORY = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;

/** Azure service principal: a token by its client credentials (RFC 6749, 4.4), which needs no permission. */
export async function checkAzurePrincipal(
  keys: { tenantId: string; clientId: string; clientSecret: string },
  authority: string,
  context: CheckContext,
): Promise<CredentialCheck> {
  const { tenantId, clientId, clientSecret } = keys;
  if (!DIRECTORY.test(tenantId)) return notWorking('TENANT_ID is not the id of a directory.');
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: SCOPE,
  };
  return checkByToken(`${authority}/${tenantId}/oauth2/v2.0/token`, form, clientId, [clientSecret], context);
}
