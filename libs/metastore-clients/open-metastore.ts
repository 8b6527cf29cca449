import type { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { DEFAULT_TIMEOUTS, type MetastoreTimeouts } from './call-guard';
import type * as GlueModule from './glue/glue-client';
import type { HiveLogin } from './hive/hive-authentication';
import type { HiveUri } from './hive/hive-connection';
import type { HiveSiteLogin } from './hive-site';
import type { Krb5Conf } from './krb5-conf';
import type * as HiveModule from './hive/hive-metastore-client';
import { type MetastoreClient, MetastoreError } from './metastore-client';
import { UnityClient } from './unity/unity-client';

/* eslint-disable @typescript-eslint/no-require-imports -- The SDK and thrift are loaded with the first
   metastore of their kind: that takes long, and most processes open none. */
const glue = () => require('./glue/glue-client') as typeof GlueModule;
const hive = () => require('./hive/hive-metastore-client') as typeof HiveModule;
/* eslint-enable @typescript-eslint/no-require-imports */

/** Identifies a metastore, without the secret. */
export type MetastoreTarget =
  | { kind: 'hive'; uris: readonly HiveUri[]; login: HiveSiteLogin; krb5: Krb5Conf | null }
  | { kind: 'unity'; endpoint: string }
  /** The secret determines the account and the region; the endpoint is null for AWS itself. */
  | { kind: 'glue'; endpoint: string | null };

/** The fields of a secret as the specification lists them for its type, such as `aws_access_key_id`. */
export type MetastoreSecret = Readonly<Record<string, string>>;

export interface MetastoreOptions {
  outbound: OutboundPolicy;
  timeouts?: MetastoreTimeouts;
}

/**
 * Creates a client without calling the metastore; use `listSchemas()` to learn whether the target and the secret work.
 * Throws {@link MetastoreError}: `denied` if the secret lacks a field or has a malformed one, `unreachable` if the endpoint
 * may not be called.
 */
export function openMetastore(
  target: MetastoreTarget,
  secret: MetastoreSecret,
  { outbound, timeouts = DEFAULT_TIMEOUTS }: MetastoreOptions,
): MetastoreClient {
  switch (target.kind) {
    case 'hive': {
      const { HiveMetastoreClient } = hive();
      const login = hiveLogin(target, secret);
      return new HiveMetastoreClient({ uris: target.uris, login, outbound, deadlineMs: timeouts.callMs });
    }
    case 'unity':
      return new UnityClient({ endpoint: target.endpoint, token: required(secret, 'token') }, outbound, timeouts);
    case 'glue': {
      const keys = {
        region: required(secret, 'aws_default_region'),
        accessKeyId: required(secret, 'aws_access_key_id'),
        secretAccessKey: required(secret, 'aws_secret_access_key'),
      };
      const { GlueClient } = glue();
      return new GlueClient({ ...keys, endpoint: target.endpoint }, outbound, timeouts);
    }
  }
}

function hiveLogin({ login, krb5 }: Extract<MetastoreTarget, { kind: 'hive' }>, secret: MetastoreSecret): HiveLogin {
  switch (login.kind) {
    case 'none':
      return { kind: 'none', user: (login.tellsUser && secret['username']) || null };
    case 'plain':
      return { kind: 'plain', username: required(secret, 'username'), password: required(secret, 'password') };
    case 'kerberos': {
      if (krb5 === null)
        throw new MetastoreError('denied', 'The Kerberos login requires a krb5.conf. Add one to the catalog.');
      const keytab = Buffer.from(required(secret, 'keytab'), 'base64');
      const identity = { principal: required(secret, 'principal'), keytab, krb5 };
      return { kind: 'kerberos', service: login.service, identity };
    }
  }
}

function required(secret: MetastoreSecret, field: string): string {
  const value = Object.hasOwn(secret, field) ? secret[field] : undefined;
  if (value === undefined || value === '')
    throw new MetastoreError('denied', `${field} is required: the secret does not contain it.`);
  return value;
}
