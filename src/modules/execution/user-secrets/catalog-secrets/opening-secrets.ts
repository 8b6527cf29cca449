import type { MetastoreTarget } from '../../../../../libs/metastore-clients/open-metastore';
import type { SecretTypeName } from '../../../foundation/reference-data';

interface OpeningSecret {
  role: 'metastore' | 'storage';
  type: SecretTypeName;
}

/** The secret that opens a metastore of each kind that does not open without one. */
export const OPENING_SECRETS = {
  unity: { role: 'metastore', type: 'DATABRICKS UNITY TOKEN' },
  glue: { role: 'storage', type: 'AWS ACCESS SECRET KEY PAIR' },
} as const satisfies Record<string, OpeningSecret>;

/** The same of Hive, by how its clients log in. */
const HIVE_SECRETS = {
  none: null,
  plain: { role: 'metastore', type: 'HIVE BASIC' },
  kerberos: { role: 'metastore', type: 'HIVE KERBEROS' },
} as const satisfies Record<string, OpeningSecret | null>;

/** What opens a metastore; null where nothing has to. */
export function openingSecret(target: MetastoreTarget): OpeningSecret | null {
  return target.kind === 'hive' ? HIVE_SECRETS[target.login.kind] : OPENING_SECRETS[target.kind];
}
