import { Injectable } from '@nestjs/common';
import { type MetastoreClient, MetastoreError } from '../../../../libs/metastore-clients/metastore-client';
import { type MetastoreTarget, openMetastore } from '../../../../libs/metastore-clients/open-metastore';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { openingSecret, type RevealedSecret } from '../../execution/user-secrets';

/** The secrets that apply to the caller of a metastore. */
export interface CatalogSecrets {
  metastore: RevealedSecret | null;
  storage: RevealedSecret | null;
}

/** Creates clients of metastores with the secrets that they require. */
@Injectable()
export class MetastoreOpener {
  constructor(private readonly outbound: OutboundPolicy) {}

  /**
   * Opens no connection. Throws a `MetastoreError` if a secret is missing, of another type or malformed.
   * @param outbound a stricter policy than the platform's, for servers that a request names
   */
  open(target: MetastoreTarget, secrets: CatalogSecrets, outbound = this.outbound): MetastoreClient {
    return openMetastore(target, valuesFor(target, secrets), { outbound });
  }
}

function valuesFor(target: MetastoreTarget, secrets: CatalogSecrets): RevealedSecret['values'] {
  const opening = openingSecret(target);
  // A metastore without a login still receives the user name.
  if (!opening) return secrets.metastore?.type === 'HIVE BASIC' ? secrets.metastore.values : {};
  const { role, type } = opening;
  const { [role]: secret } = secrets;
  if (secret?.type === type) return secret.values;
  const found =
    secret === null
      ? 'none is attached for you, the workspace or the tenant'
      : `the attached one is of type ${secret.type}`;
  throw new MetastoreError('denied', `It requires a secret of type ${type}, but ${found}.`);
}
