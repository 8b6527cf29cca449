import { MetastoreError, type MetastoreFault } from '../../../../libs/metastore-clients/metastore-client';
import type { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { managesClusters, type Principal } from '../../../platform/kernel/auth/principal';
import { DomainError, forbidden } from '../../../platform/kernel/errors/domain-error';
import type { Logger } from '../../../platform/kernel/logging/logger';

/** Faults that would reveal whether, and which, server listens at an address. */
const HIDDEN_FAULTS: ReadonlySet<MetastoreFault> = new Set<MetastoreFault>([
  'unreachable',
  'timeout',
  'failed',
  'too-large',
]);

const REMEDY =
  'For other callers than ADMIN, PLATFORM ADMIN and CAN MANAGE CLUSTER, it must have a public address. Ask one of them to send the request, or name a catalog of the tenant by metastore_id.';

/**
 * The metastore servers that a request names instead of a catalog. They must not let callers probe the platform's private networks:
 * see ADR 0054.
 */
export class NamedServers {
  readonly outbound: OutboundPolicy;
  private readonly isTrusted: boolean;

  /**
   * Throws a 403 if the caller may not name the address.
   * @param assertAllowed throws a domain error if the policy refuses the address; resolves no names
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

  /** Returns the error of a failed call that the caller may see. */
  visibleError(error: MetastoreError): MetastoreError {
    if (!HIDDEN_FAULTS.has(error.fault)) return error;
    this.logger.warn({ fault: error.fault, err: error }, 'A metastore server named in a request did not answer as one');
    const remedy = this.isTrusted ? 'The log of the API server contains the error.' : REMEDY;
    return new MetastoreError('unreachable', `No metastore answers at the server that the request names. ${remedy}`, {
      cause: error,
    });
  }
}
