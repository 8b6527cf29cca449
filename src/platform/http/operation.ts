import {
  applyDecorators,
  Header,
  HttpCode,
  type NestInterceptor,
  RequestMapping,
  RequestMethod,
  SetMetadata,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { AuditInterceptor } from './audit/audit.interceptor';
import { JsonBodyInterceptor } from './bodies/json-body.interceptor';
import { StreamInterceptor } from './connections/stream.interceptor';
import { IdempotencyInterceptor } from './idempotency.interceptor';
import {
  type ResponseShape,
  returnsSecret,
  isStreamed,
  changesRecords,
  OPERATION_METADATA,
  type OperationOptions,
} from './operation-options';
import { ListPageInterceptor } from './list-page';
import { declareNoQuery } from './no-query';
import { UpgradeInterceptor } from './upgrades/upgrade.interceptor';

/** Shapes of successful responses. */
export const Responses = {
  one: (type: Type<object>): ResponseShape => ({ kind: 'object', type }),
  list: (type: Type<object>): ResponseShape => ({ kind: 'list', type }),
  page: (type: Type<object>): ResponseShape => ({ kind: 'page', type }),
  /** A streamed list of any length; CSV if the request prefers it to JSON. */
  table: (type: Type<object>): ResponseShape => ({ kind: 'table', type }),
  /** A bare list, of which a page can be requested; see {@link ListPage}. */
  pageOfList: (type: Type<object>): ResponseShape => ({ kind: 'page-of-list', type }),
  pageOfTexts: { kind: 'values', items: { type: 'string' }, isPaged: true } as ResponseShape,
  /** A list of JSON objects of free keys with texts. */
  textMaps: {
    kind: 'values',
    items: { type: 'object', additionalProperties: { type: 'string' } },
    isPaged: false,
  } as ResponseShape,
  /** A JSON object of free keys with lists of texts. */
  textLists: { kind: 'text-lists' } as ResponseShape,
  message: { kind: 'message' } as ResponseShape,
  text: { kind: 'text' } as ResponseShape,
  binary: { kind: 'binary' } as ResponseShape,
  /** Bytes, or the address of a store that sends them; see {@link DownloadQuery}. */
  download: { kind: 'binary', canRedirect: true } as ResponseShape,
  /** Server-sent events without end. */
  events: { kind: 'events' } as ResponseShape,
  anyJson: { kind: 'json' } as ResponseShape,
  none: { kind: 'none' } as ResponseShape,
};

/**
 * Declares a complete route: mapping, access and response. A route without this declaration stops the boot. The OpenAPI
 * document is derived from the same options (`documentOperations`).
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const status = options.status ?? 200;
  return applyDecorators(
    SetMetadata(OPERATION_METADATA, options),
    RequestMapping({ path: options.path.replaceAll(/\{(\w+)\}/g, ':$1'), method: RequestMethod[options.method] }),
    HttpCode(status),
    ...(returnsSecret(options) ? [Header('Cache-Control', 'no-store')] : []),
    ...(options.readsRawQuery ? [] : [declareNoQuery]),
    // Each interceptor costs time per request, and most reads need none.
    ...interceptorsOf(options).map((interceptor) => UseInterceptors(interceptor)),
  );
}

/** Returns the interceptors in order: those after JsonBodyInterceptor can read the body. */
function interceptorsOf(options: OperationOptions): Type<NestInterceptor>[] {
  return [
    ...(isStreamed(options) ? [StreamInterceptor] : []),
    ...(isPageOfList(options.response) ? [ListPageInterceptor] : []),
    ...(changesRecords(options) ? [JsonBodyInterceptor, AuditInterceptor, IdempotencyInterceptor] : []),
    ...(options.isUpgrade ? [UpgradeInterceptor] : []),
  ];
}

function isPageOfList(response: ResponseShape): boolean {
  return response.kind === 'page-of-list' || (response.kind === 'values' && response.isPaged);
}
