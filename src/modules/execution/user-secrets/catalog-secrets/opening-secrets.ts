import type { MetastoreTarget } from '../../../../../libs/metastore-clients/open-metastore';
import type { SecretTypeName } from '../../../foundation/reference-data';

interface OpeningSecret {
  role: 'metastore' | 'storage';
  type: SecretTypeName;
}

/** The secret that a metastore of each kind requires. */
export const OPENING_SECRETS = {
  unity: { role: 'metastore', type: 'DATABRICKS UNITY TOKEN' },
  glue: { role: 'storage', type: 'AWS ACCESS SECRET KEY PAIR' },
} as const satisfies Record<string, OpeningSecret>;

/** The secret that Hive requires, by the login of its clients. */
const HIVE_SECRETS = {
  none: null,
  plain: { role: 'metastore', type: 'HIVE BASIC' },
  kerberos: { role: 'metastore', type: 'HIVE KERBEROS' },
} as const satisfies Record<string, OpeningSecret | null>;

/** Returns the secret that a metastore requires; null if it requires none. */
export function openingSecret(target: MetastoreTarget): OpeningSecret | null {
  return target.kind === 'hive' ? HIVE_SECRETS[target.login.kind] : OPENING_SECRETS[target.kind];
}
