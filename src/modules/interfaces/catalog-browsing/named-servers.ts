import { MetastoreError, type MetastoreFault } from '../../../../libs/metastore-clients/metastore-client';
import type { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { managesClusters, type Principal } from '../../../platform/kernel/auth/principal';
import { DomainError, forbidden } from '../../../platform/kernel/errors/domain-error';
import type { Logger } from '../../../platform/kernel/logging/logger';

/** What tells whether something listens at an address, and what. */
const HIDDEN: ReadonlySet<MetastoreFault> = new Set<MetastoreFault>(['unreachable', 'timeout', 'failed', 'too-large']);

const REMEDY =
  'It is called at a public address only, unless an ADMIN, a PLATFORM ADMIN or somebody with CAN MANAGE CLUSTER asks. Ask one of them, or name a catalog of the tenant by metastore_id.';

/**
 * Servers of metastores that a request names instead of a catalog. They are no way to look into the platform's private
 * networks: see ADR 0054.
 */
export class NamedServers {
  /** What they are called by. */
  readonly outbound: OutboundPolicy;
  private readonly isTrusted: boolean;

  /**
   * Throws a 403 for an address that is not the caller's to name.
   * @param assertAllowed throws a domain error for an address that a policy refuses, without resolving names
   */
  constructor(
    caller: Principal,
    outbound: OutboundPolicy,
    private readonly logger: Logger,
    assertAllowed: (outbound: OutboundPolicy) => void,
  ) {
    this.isTrusted = managesClusters(caller);
    this.outbound = this.isTrusted ? outbound : outbound.publicOnly;
    assertAllowed(outbound);
    if (this.isTrusted) return;
    try {
      assertAllowed(this.outbound);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw forbidden('METASTORE.ENDPOINT_FORBIDDEN', `The request names a server in a private network. ${REMEDY}`);
    }
  }

  /** What the caller is told of a failed call. */
  told(error: MetastoreError): MetastoreError {
    if (!HIDDEN.has(error.fault)) return error;
    this.logger.warn({ fault: error.fault, err: error }, 'No metastore answers at a server that a request names');
    const remedy = this.isTrusted ? 'The log of the API says what happened.' : REMEDY;
    return new MetastoreError('unreachable', `No metastore answers at the server that the request names. ${remedy}`, {
      cause: error,
    });
  }
}
