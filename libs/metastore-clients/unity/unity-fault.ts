import { LONG_JSON, readUntrusted } from '../../json/parse-json';
import type { MetastoreError, MetastoreFault } from '../metastore-client';
import { refusal } from '../metastore-fault';
import type { UnityResponse } from './unity-request';

const FAULTS: readonly (readonly [RegExp, MetastoreFault])[] = [
  [/^(UNAUTHENTICATED|PERMISSION_DENIED|INVALID_TOKEN)$/, 'denied'],
  [/^(FEATURE_DISABLED|ENDPOINT_NOT_FOUND|NOT_IMPLEMENTED|UNIMPLEMENTED)$/, 'unsupported'],
  [/(^|_)(NOT_FOUND|NOT_EXIST)$/, 'missing'],
  [/^(RESOURCE_EXHAUSTED|REQUEST_LIMIT_EXCEEDED|TEMPORARILY_UNAVAILABLE|UNAVAILABLE)$/, 'unreachable'],
  [/^DEADLINE_EXCEEDED$/, 'timeout'],
];

const STATUSES: Readonly<Record<number, MetastoreFault>> = {
  401: 'denied',
  403: 'denied',
  404: 'missing',
  408: 'timeout',
  429: 'unreachable',
  501: 'unsupported',
  502: 'unreachable',
  503: 'unreachable',
  504: 'unreachable',
};

/** Characters of a page that are searched for its text. */
const MAX_PAGE_LENGTH = 2000;

/**
 * Translates an error response, `{error_code, message, details}`, by its code, which Databricks and the open-source server
 * share, else by its status. A response of another form comes from another server, such as a proxy.
 */
export function unityFault(
  server: string,
  { status, body }: UnityResponse,
  secrets: readonly string[],
): MetastoreError {
  const text = body.toString('utf8');
  const error = errorOf(text);
  const isDenied = status === 401 || status === 403;
  if (!error) {
    const fault = (status === 404 ? undefined : STATUSES[status]) ?? 'failed';
    return notUnity(server, status, text, secrets, fault);
  }
  const fault = isDenied ? 'denied' : (FAULTS.find(([code]) => code.test(error.code))?.[1] ?? STATUSES[status]);
  const words = [error.code, error.message].filter((word) => word !== '' && !/^\d+$/.test(word)).join(': ');
  return refusal(fault ?? 'failed', server, words === '' ? `HTTP ${status}` : words, secrets);
}

/** Returns the error for a response that is not from Unity Catalog; quotes the beginning of its text. */
export function notUnity(
  server: string,
  status: number,
  text: string,
  secrets: readonly string[],
  fault: MetastoreFault = 'failed',
): MetastoreError {
  let begin = text;
  // Before the text is cut, which could leave half of a secret.
  for (const secret of secrets) begin = begin.replaceAll(secret, '***');
  begin = begin
    .slice(0, MAX_PAGE_LENGTH)
    .replaceAll(/<[^<>]{0,500}>/g, ' ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const problem = `does not answer like Unity Catalog (HTTP ${status})`;
  return refusal(fault, server, begin === '' ? problem : `${problem}: ${begin}`, []);
}

function errorOf(text: string): { code: string; message: string } | null {
  const body = Object(readUntrusted(text, LONG_JSON)) as { error_code?: unknown; message?: unknown };
  const { error_code: code, message } = body;
  // Some codes of Databricks are numbers.
  if (typeof code !== 'string' && typeof code !== 'number') return null;
  return { code: String(code), message: typeof message === 'string' ? message : '' };
}
