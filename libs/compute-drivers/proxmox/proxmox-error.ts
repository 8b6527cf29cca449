import { printable } from '../../object-storage/store-fault';
import { ComputeDriverError, type FaultKind } from '../compute-driver';
import { withoutControls } from '../call-faults';

/** Why a call to Proxmox VE failed. */
export type ProxmoxFault =
  /** The outbound policy does not allow the address. */
  | 'ADDRESS_REFUSED'
  /** The server's certificate is not trusted. */
  | 'CERTIFICATE_REFUSED'
  /** User name, password or token are wrong, or lack a privilege. */
  | 'CREDENTIALS_REFUSED'
  /** What answers there is not Proxmox VE's API. */
  | 'NOT_PROXMOX'
  /** Proxmox VE does not take this request. */
  | 'REFUSED'
  /** A storage or a host is full. */
  | 'FULL'
  /** No connection, or the server cannot answer now. */
  | 'UNAVAILABLE'
  | 'TIMEOUT'
  /** The caller's signal ended the call. */
  | 'CANCELLED';

const KINDS: Readonly<Record<ProxmoxFault, FaultKind>> = {
  ADDRESS_REFUSED: 'invalid',
  CERTIFICATE_REFUSED: 'invalid',
  CREDENTIALS_REFUSED: 'denied',
  NOT_PROXMOX: 'invalid',
  REFUSED: 'invalid',
  FULL: 'capacity',
  UNAVAILABLE: 'transient',
  TIMEOUT: 'transient',
  CANCELLED: 'transient',
};

/** Error of a call to Proxmox VE. The message names host and cause, contains no secret, and may be shown to users. */
export class ProxmoxError extends ComputeDriverError {
  constructor(
    readonly fault: ProxmoxFault,
    message: string,
    options?: { cause?: unknown },
  ) {
    const kind = KINDS[fault];
    super(`PROXMOX.${fault}`, message, { kind, ...(kind === 'capacity' && { scope: 'zone' }), cause: options?.cause });
    this.name = 'ProxmoxError';
  }
}

/** What its storages and QEMU say, which Proxmox VE passes on as an error like any other. */
const FULL =
  /no space left|(not enough|insufficient) (free )?(space|memory)|out of space|disk quota exceeded|cannot allocate memory|run out of (space|memory)/i;
/** Somebody else holds what is needed, or it took too long. */
const BUSY = /can't lock|got (lock )?timeout|timed? ?out|\bis locked\b|cfs-lock|no quorum/i;
const FORBIDDEN = /permission (check failed|denied)/i;

/** What an error means that Proxmox VE tells in words alone; null where they say no more than that it is one. */
export function kindFromText(words: string): FaultKind | null {
  if (FULL.test(words)) return 'capacity';
  if (BUSY.test(words)) return 'transient';
  return FORBIDDEN.test(words) ? 'denied' : null;
}

/**
 * The fault of a task that failed.
 * @param what such as `Proxmox VE cannot start it`
 * @param status how the task ended, in the words of Proxmox VE
 */
export function taskFault(code: string, what: string, status: string): ComputeDriverError {
  const kind = kindFromText(status) ?? 'invalid';
  const words = printable(withoutControls(status), []) || 'It gives no reason.';
  return new ComputeDriverError(`PROXMOX.${code}`, `${what}: ${words}`, {
    kind,
    ...(kind === 'capacity' && { scope: 'zone' }),
  });
}

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** The error of a connection that failed, or of an answer that broke off. */
export function connectionError(host: string, error: NodeJS.ErrnoException): ProxmoxError {
  const { code = '', message } = error;
  const fault = (kind: ProxmoxFault, text: string) => new ProxmoxError(kind, text, { cause: error });
  if (code === 'ERR_ADDRESS_REFUSED') return fault('ADDRESS_REFUSED', message);
  if (CERTIFICATE_CODES.has(code)) {
    return fault('CERTIFICATE_REFUSED', `The certificate of ${host} is not trusted (${code}).`);
  }
  if (code.startsWith('HPE_')) return fault('NOT_PROXMOX', `${host} does not answer with HTTP.`);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return fault('NOT_PROXMOX', `${host} does not answer with TLS as it should.`);
  }
  return fault('UNAVAILABLE', `${host} cannot be reached (${code === '' ? 'the connection failed' : code}).`);
}
