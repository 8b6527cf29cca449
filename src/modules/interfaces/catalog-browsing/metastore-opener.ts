import { Injectable } from '@nestjs/common';
import { type MetastoreClient, MetastoreError } from '../../../../libs/metastore-clients/metastore-client';
import { type MetastoreTarget, openMetastore } from '../../../../libs/metastore-clients/open-metastore';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { openingSecret, type RevealedSecret } from '../../execution/user-secrets';

/** The secrets that count for who calls a metastore. */
export interface CatalogSecrets {
  metastore: RevealedSecret | null;
  storage: RevealedSecret | null;
}

/** Makes the clients of metastores, with the secrets that they need. */
@Injectable()
export class MetastoreOpener {
  constructor(private readonly outbound: OutboundPolicy) {}

  /**
   * Calls nobody. Throws a `MetastoreError` where a secret is missing, of another type or malformed.
   * @param outbound narrower than the platform's, for servers that a request names
   */
  open(target: MetastoreTarget, secrets: CatalogSecrets, outbound = this.outbound): MetastoreClient {
    return openMetastore(target, valuesFor(target, secrets), { outbound });
  }
}

function valuesFor(target: MetastoreTarget, secrets: CatalogSecrets): RevealedSecret['values'] {
  const opening = openingSecret(target);
  // A metastore without a login is told who calls.
  if (!opening) return secrets.metastore?.type === 'HIVE BASIC' ? secrets.metastore.values : {};
  const { role, type } = opening;
  const { [role]: secret } = secrets;
  if (secret?.type === type) return secret.values;
  const found =
    secret === null ? 'none is attached for you, the workspace or the tenant' : `not of type ${secret.type}`;
  throw new MetastoreError('denied', `It is opened by a secret of type ${type}, and ${found}.`);
}
