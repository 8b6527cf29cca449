import type { Type } from '@nestjs/common';
import type { Access } from '../kernel/auth/access';
import { fieldShapes } from '../kernel/dto/field-shapes';

export type ResponseShape =
  | { kind: 'object' | 'list' | 'page' | 'page-of-list'; type: Type<object> }
  /** A list of any length, as JSON or as CSV. */
  | { kind: 'table'; type: Type<object> }
  /** An object of free keys with lists of texts. */
  | { kind: 'text-lists' }
  /** A list of what is no record, and whether a page of it can be asked for. */
  | {
      kind: 'values';
      items: { type: 'string' | 'object'; additionalProperties?: { type: 'string' } };
      isPaged: boolean;
    }
  | { kind: 'message' | 'text' | 'binary' | 'json' | 'none' };

export interface OperationOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As in the contract, with `{braces}`. */
  path: string;
  /** OpenAPI operation id; unique. */
  id: string;
  summary: string;
  /** What a caller must know beyond the summary. */
  description?: string;
  tag: string;
  access: Access;
  response: ResponseShape;
  /** 200 unless the contract says otherwise. */
  status?: number;
  /**
   * Statuses besides those that follow from the rest, see `errorStatuses`; without 409 here, broken state rules are
   * 400.
   */
  errors?: readonly number[];
  /** Body of the error statuses where it is not the usual one; only 500 is listed then. */
  errorResponse?: Type<object>;
  /** Raw bytes instead of JSON: a stream, unless `maxBodyBytes` bounds them. */
  binaryBody?: boolean;
  /** Of raw bytes that are any JSON, for the document. */
  jsonExample?: unknown;
  /** Media type of the body that is passed on as it is; `application/octet-stream` unless there is an example in JSON. */
  bodyType?: string;
  /** Largest body where the usual bound is too wide: 16 KiB without a known caller, `HTTP_MAX_JSON_BYTES` with one. */
  maxBodyBytes?: number;
  /** Takes a JSON document of many records, larger than what other operations take. */
  document?: { maxBytes: number; maxValues: number };
  /** Returns a token or a credential, so no cache may keep it; implied if a field of the answer has such a name. */
  returnsSecret?: boolean;
  /** Takes a user name and a token of this user as HTTP Basic, too, for clients that know no bearer tokens. */
  acceptsBasicAuth?: boolean;
  /** One of the many requests that its clients' protocol makes of each action: the audit log has only those refused. */
  auditsOnlyRefusals?: boolean;
  /** Signs somebody in: audited with its failures, though the caller is not yet known. */
  opensSession?: boolean;
  /** A GET that changes records: audited like operations whose method implies that. */
  changesRecords?: boolean;
  /**
   * Accepts query parameters that another party names, and reads them from the request itself; elsewhere unknown ones
   * are refused.
   */
  readsRawQuery?: boolean;
  /** Request headers besides the usual ones, name to description. */
  headers?: Readonly<Record<string, string>>;
  /** Waits for what somebody else says, for minutes if need be; a stream besides those that carry bytes. */
  isLongRunning?: boolean;
  /** Accepts a WebSocket instead of answering; set by `@Upgrade`, with all that follows from it. */
  isUpgrade?: boolean;
  /** Left out of the document: the node agents' own API, and upgrades, which it cannot describe. */
  internal?: boolean;
}

export const OPERATION_METADATA = 'platform:operation';

/** Whether the operation does more than read; such operations may carry a body and a key, and are audited. */
export function changesRecords(options: OperationOptions): boolean {
  return options.method !== 'GET' || options.changesRecords === true || options.opensSession === true;
}

const SECRET_FIELD = /(^|_)(token|password|secret)$/;

/** Whether no cache may keep the operation's answer. */
export function returnsSecret({ response, returnsSecret: isDeclared, opensSession }: OperationOptions): boolean {
  if (isDeclared || opensSession) return true;
  return 'type' in response && [...fieldShapes(response.type).keys()].some((field) => SECRET_FIELD.test(field));
}

/** Whether the operation may take any time, for its bytes in either direction or for what they are made from. */
export function isStreamed({ response, binaryBody, maxBodyBytes, isLongRunning }: OperationOptions): boolean {
  if (isLongRunning) return true;
  return (binaryBody === true && maxBodyBytes === undefined) || ['binary', 'text', 'table'].includes(response.kind);
}
