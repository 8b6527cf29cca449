import { AZURE_ENDPOINT, groupOf } from '../compute-drivers/azure/azure-requests';
import { ACTIONS } from '../compute-drivers/azure/azure-rights';
import { type CheckContext, type CredentialCheck, notWorking, working } from './credential-check';
import { describeMissingRights } from './missing-rights';
import { checkByToken, parseGrants, send, withoutToken } from './token-request';

/** Scope of Azure's resource manager, which creates the nodes. */
const SCOPE = `${AZURE_ENDPOINT}/.default`;
const API_VERSION = '2022-04-01';
const MAX_PAGES = 10;

/** Id or domain of a directory, which becomes a part of a path. */
const DIRECTORY = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;
const SUBSCRIPTION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface AzureKeys {
  tenantId: string;
  clientId: string;
  clientSecret: string;
  subscriptionId: string;
}

interface AzureServers {
  authority: string;
  management: string;
}

/**
 * Checks an Azure service principal by requesting a token with its client credentials (RFC 6749, 4.4), which needs no
 * permission. Also finds the actions that a working principal lacks to create nodes.
 * @param group the resource group of the nodes; if absent, the actions in the whole subscription count
 */
export async function checkAzurePrincipal(
  keys: AzureKeys,
  { authority, management }: AzureServers,
  context: CheckContext,
  group?: string,
): Promise<CredentialCheck> {
  const { tenantId, clientId, clientSecret, subscriptionId } = keys;
  if (!DIRECTORY.test(tenantId)) return notWorking('TENANT_ID is not the id or domain of a directory.');
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: SCOPE,
  };
  const login = `${authority}/${tenantId}/oauth2/v2.0/token`;
  const checked = await checkByToken(login, form, clientId, [clientSecret], context);
  const { token } = checked;
  if (token === null || !SUBSCRIPTION.test(subscriptionId)) return withoutToken(checked);
  const where = group === undefined ? `in the whole subscription ${subscriptionId}` : `in the resource group ${group}`;
  const lacks = await describeMissingRights(where, async () => {
    const path = group === undefined ? '' : `/resourceGroups/${encodeURIComponent(groupOf({ account: group }))}`;
    const url = `/subscriptions/${subscriptionId}${path}/providers/Microsoft.Authorization/permissions`;
    const granted = await loadGrants(new URL(`${url}?api-version=${API_VERSION}`, management), token, context);
    return ACTIONS.filter((action) => !granted.some((one) => isGranted(action, one)));
  });
  const hint = lacks !== null && group === undefined ? ' To check one resource group, send it as cloud_project.' : '';
  return working(checked.checkedAs, lacks === null ? null : lacks + hint);
}

/** A role's actions, except those in `notActions`. */
interface Grant {
  actions: RegExp[];
  notActions: RegExp[];
}

async function loadGrants(first: URL, token: string, context: CheckContext): Promise<Grant[]> {
  const found: Grant[] = [];
  let url: URL | null = first;
  for (let page = 0; url !== null && page < MAX_PAGES; page += 1) {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await send(url, { method: 'GET', headers, body: null }, context);
    const { value, nextLink } = parseGrants(response, url.host, [token]);
    for (const one of Array.isArray(value) ? (value as unknown[]) : []) {
      const { actions, notActions } = Object(one) as { actions?: unknown; notActions?: unknown };
      found.push({ actions: patterns(actions), notActions: patterns(notActions) });
    }
    const next = typeof nextLink === 'string' ? URL.parse(nextLink) : null;
    // The token must not be sent to another server.
    url = next?.origin === first.origin ? next : null;
  }
  return found;
}

/** Converts actions with `*` wildcards to regular expressions. */
function patterns(actions: unknown): RegExp[] {
  if (!Array.isArray(actions)) return [];
  return actions
    .filter((one): one is string => typeof one === 'string' && one.length < 300)
    .map(
      (one) =>
        new RegExp(
          `^${one
            .split(/\*+/)
            .map((part) => part.replaceAll(/[^\w/]/g, '\\$&'))
            .join('.*')}$`,
          'i',
        ),
    );
}

function isGranted(action: string, { actions, notActions }: Grant): boolean {
  return actions.some((one) => one.test(action)) && !notActions.some((one) => one.test(action));
}
