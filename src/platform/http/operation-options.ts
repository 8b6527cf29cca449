import type { Type } from '@nestjs/common';
import type { Access } from '../kernel/auth/access';
import type { ErrorStatus } from './error-responses';
import { fieldShapes } from '../kernel/dto/field-shapes';

export type ResponseShape =
  | { kind: 'object' | 'list' | 'page' | 'page-of-list'; type: Type<object> }
  /** A list of any length, as JSON or as CSV. */
  | { kind: 'table'; type: Type<object> }
  /** An object of free keys with lists of texts. */
  | { kind: 'text-lists' }
  /** A list of plain values, which may be paged. */
  | {
      kind: 'values';
      items: { type: 'string' | 'object'; additionalProperties?: { type: 'string' } };
      isPaged: boolean;
    }
  /** `canRedirect` if a request can ask for an address of the bytes instead. */
  | { kind: 'binary'; canRedirect?: boolean }
  | { kind: 'message' | 'text' | 'events' | 'json' | 'none' };

export interface OperationOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path of the contract, with `{braces}`. */
  path: string;
  /** OpenAPI operation id; unique. */
  id: string;
  summary: string;
  /** Further information for callers. */
  description?: string;
  tag: string;
  /** True if the API's release does not have the operation; its description then says so. */
  isExtension?: boolean;
  access: Access;
  response: ResponseShape;
  /** 200 unless the contract says otherwise. */
  status?: number;
  /** Error statuses that `errorStatuses` does not derive. Without 409 here, broken state rules are 400. */
  errors?: readonly Exclude<ErrorStatus, 'default'>[];
  /** Body of errors if it is not the usual one. The document then lists only 500. */
  errorResponse?: Type<object>;
  /** Raw bytes instead of JSON: a stream, unless `maxBodyBytes` bounds them. */
  binaryBody?: boolean;
  /** Example of a raw body that is any JSON, for the document. */
  jsonExample?: unknown;
  /** Media type of a raw body. The default is JSON if there is an example, else `application/octet-stream`. */
  bodyType?: string;
  /** Limit of the body, below the usual one: 16 KiB for public operations, else `HTTP_MAX_JSON_BYTES`. */
  maxBodyBytes?: number;
  /** Accepts a JSON document of many records, larger than the bodies of other operations. */
  document?: { maxBytes: number; maxValues: number };
  /** The response has a token or a credential, so caches must not store it. A field with the name of a secret implies this. */
  returnsSecret?: boolean;
  /** Also accepts a user name and this user's token as HTTP Basic, for clients without support for bearer tokens. */
  acceptsBasicAuth?: boolean;
  /** The audit log records only refused requests, because the clients' protocol sends many requests per action. */
  auditsOnlyRefusals?: boolean;
  /** Signs a user in. It is audited with its failures, although the caller is not authenticated yet. */
  opensSession?: boolean;
  /** A GET that changes records and is therefore audited. */
  changesRecords?: boolean;
  /**
   * Accepts query parameters whose names another party chooses, and reads them from the request. Other operations refuse
   * unknown parameters.
   */
  readsRawQuery?: boolean;
  /** Descriptions of further request headers by name. */
  headers?: Readonly<Record<string, string>>;
  /** May wait for minutes for another party, so it counts as a stream. */
  isLongRunning?: boolean;
  /** Accepts a WebSocket instead of sending a response; set by `@Upgrade`. */
  isUpgrade?: boolean;
  /** Protocol of other clients that the operation speaks, so SDKs leave it out. */
  protocol?: 'thrift';
  /** Left out of the document: the node agents' own API, and upgrades, which it cannot describe. */
  internal?: boolean;
}

export const OPERATION_METADATA = 'platform:operation';

/** True if the operation changes records. It may then have a body and an idempotency key, and is audited. */
export function changesRecords(options: OperationOptions): boolean {
  return options.method !== 'GET' || options.changesRecords === true || options.opensSession === true;
}

const SECRET_FIELD = /(^|_)(token|password|secret)$/;

/** True if caches must not store the response. */
export function returnsSecret({ response, returnsSecret: isDeclared, opensSession }: OperationOptions): boolean {
  if (isDeclared || opensSession) return true;
  return 'type' in response && [...fieldShapes(response.type).keys()].some((field) => SECRET_FIELD.test(field));
}

/** True if the operation may take any time, because it streams bytes or waits for another party. */
export function isStreamed({ response, binaryBody, maxBodyBytes, isLongRunning }: OperationOptions): boolean {
  if (isLongRunning) return true;
  return (
    (binaryBody === true && maxBodyBytes === undefined) || ['binary', 'text', 'table', 'events'].includes(response.kind)
  );
}
