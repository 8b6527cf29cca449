// A real OpenID Connect provider on loopback, with a page to log in at and the password grant. Its only argument is a
// JSON object: `clientId`, `clientSecret`, `redirectUrl`, `people` and `claimsInIdToken`. The first line that it prints
// is its issuer. `POST /test/people` replaces the people; `POST /test/fault` changes the ID tokens from
// then on, or stops the provider from returning tokens.
import { createPrivateKey, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { errors, Provider } from 'oidc-provider';

const settings = JSON.parse(process.argv[2]);
const CLAIMS = {
  openid: ['sub'],
  profile: ['name', 'preferred_username', 'groups', '_claim_names'],
  email: ['email', 'email_verified'],
};

let people = settings.people;
let fault = {};

const jwk = {
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid: 'test',
  alg: 'RS256',
  use: 'sig',
};
const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: settings.clientId,
      client_secret: settings.clientSecret,
      redirect_uris: [settings.redirectUrl],
      grant_types: ['authorization_code', 'password'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  jwks: { keys: [jwk] },
  cookies: { keys: ['only for tests'] },
  claims: CLAIMS,
  conformIdTokenClaims: !settings.claimsInIdToken,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, sub) => accountOf(Object.values(people).find((person) => person.claims.sub === sub)),
  loadExistingGrant: async (ctx) => {
    const grant = new provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
    grant.addOIDCScope(ctx.oidc.params.scope);
    await grant.save();
    return grant;
  },
});

function accountOf(person) {
  return person && { accountId: person.claims.sub, claims: () => person.claims };
}

function personOf(username, password) {
  const person = Object.hasOwn(people, username) ? people[username] : undefined;
  return person?.password === password ? person : undefined;
}

provider.registerGrantType(
  'password',
  async (ctx) => {
    const { client, params } = ctx.oidc;
    const person = personOf(params.username, params.password);
    if (!person) throw new errors.InvalidGrant('wrong user name or password');
    const { sub } = person.claims;
    ctx.oidc.entity('Account', accountOf(person));
    const grant = new provider.Grant({ clientId: client.clientId, accountId: sub });
    grant.addOIDCScope(params.scope);
    const grantId = await grant.save();
    const accessToken = new provider.AccessToken({
      accountId: sub,
      client,
      grantId,
      gty: 'password',
      scope: params.scope,
    });
    ctx.oidc.entity('AccessToken', accessToken);
    const idToken = new provider.IdToken(person.claims, { ctx });
    idToken.scope = settings.claimsInIdToken ? params.scope : 'openid';
    ctx.body = {
      access_token: await accessToken.save(),
      id_token: await idToken.issue({ use: 'idtoken' }),
      expires_in: 60,
      token_type: 'Bearer',
    };
  },
  ['username', 'password', 'scope'],
);

provider.use(async (ctx, next) => {
  await next();
  if (ctx.path === '/token' && ctx.body?.id_token && Object.keys(fault).length > 0) {
    ctx.body = { ...ctx.body, id_token: changed(ctx.body.id_token) };
  }
});

/** Returns the token with the claims of the fault, signed again, with a foreign key if the fault says so. */
function changed(token) {
  const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  const claims = { ...JSON.parse(payload), ...fault.claims };
  const unsigned = [header, JSON.stringify(claims)].map((part) => Buffer.from(part).toString('base64url')).join('.');
  const key = fault.foreignKey ? foreignKey : createPrivateKey({ key: jwk, format: 'jwk' });
  return `${unsigned}.${createSign('sha256').update(unsigned).sign(key, 'base64url')}`;
}

async function bodyOf(request) {
  const chunks = await request.toArray();
  return Buffer.concat(chunks).toString();
}

/** Returns the login page: a form with user name and password. */
async function interact(request, response) {
  await provider.interactionDetails(request, response);
  if (request.method === 'GET') {
    response.setHeader('Content-Type', 'text/html');
    response.end('<form method="post"><input name="username"><input name="password" type="password"></form>');
    return;
  }
  const form = new URLSearchParams(await bodyOf(request));
  const person = personOf(form.get('username'), form.get('password'));
  const result = person ? { login: { accountId: person.claims.sub } } : { error: 'access_denied' };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

const callback = provider.callback();
server.on('request', async (request, response) => {
  try {
    if (request.url.startsWith('/interaction/')) await interact(request, response);
    else if (request.url === '/test/people') {
      people = JSON.parse(await bodyOf(request));
      response.end();
    } else if (request.url === '/test/fault') {
      fault = JSON.parse(await bodyOf(request));
      response.end();
    } else if (fault.away && request.url === '/token') {
      response.statusCode = 503;
      response.end();
    } else await callback(request, response);
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
});

console.log(issuer);
