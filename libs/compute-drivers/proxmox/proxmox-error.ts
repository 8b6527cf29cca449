import { printable } from '../../object-storage/store-fault';
import { ComputeDriverError, type FaultKind } from '../compute-driver';
import { withoutControls } from '../call-faults';

export type ProxmoxFault =
  /** The outbound policy does not allow the address. */
  | 'ADDRESS_REFUSED'
  /** The server's certificate is not trusted. */
  | 'CERTIFICATE_REFUSED'
  /** User name, password or token are wrong, or the account lacks a privilege. */
  | 'CREDENTIALS_REFUSED'
  /** The server is not the API of Proxmox VE. */
  | 'NOT_PROXMOX'
  /** Proxmox VE refused the request. */
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

/** Messages of storages and QEMU about lack of space, which Proxmox VE passes on as plain errors. */
const FULL =
  /no space left|(not enough|insufficient) (free )?(space|memory)|out of space|disk quota exceeded|cannot allocate memory|run out of (space|memory)/i;
/** Messages about locks and timeouts. */
const BUSY = /can't lock|got (lock )?timeout|timed? ?out|\bis locked\b|cfs-lock|no quorum/i;
const FORBIDDEN = /permission (check failed|denied)/i;

/** Returns the kind of an error of which only the message is known; null if the message does not reveal it. */
export function kindFromText(words: string): FaultKind | null {
  if (FULL.test(words)) return 'capacity';
  if (BUSY.test(words)) return 'transient';
  return FORBIDDEN.test(words) ? 'denied' : null;
}

/**
 * Returns the fault of a failed task.
 * @param what such as `Proxmox VE cannot start the machine`
 * @param status the end status of the task, which has its error message
 */
export function taskFault(code: string, what: string, status: string): ComputeDriverError {
  const kind = kindFromText(status) ?? 'invalid';
  const words = printable(withoutControls(status), []) || 'It gave no reason.';
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

/** Returns the fault of a connection that failed or broke off. */
export function connectionError(host: string, error: NodeJS.ErrnoException): ProxmoxError {
  const { code = '', message } = error;
  const fault = (kind: ProxmoxFault, text: string) => new ProxmoxError(kind, text, { cause: error });
  if (code === 'ERR_ADDRESS_REFUSED') return fault('ADDRESS_REFUSED', message);
  if (CERTIFICATE_CODES.has(code)) {
    return fault('CERTIFICATE_REFUSED', `The TLS certificate of ${host} is not trusted (${code}).`);
  }
  if (code.startsWith('HPE_')) return fault('NOT_PROXMOX', `${host} does not speak HTTP.`);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return fault('NOT_PROXMOX', `${host} failed the TLS handshake (${code}).`);
  }
  return fault('UNAVAILABLE', `${host} cannot be reached (${code === '' ? 'the connection failed' : code}).`);
}
