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

/** What an operation answers on success. */
export const Responses = {
  one: (type: Type<object>): ResponseShape => ({ kind: 'object', type }),
  list: (type: Type<object>): ResponseShape => ({ kind: 'list', type }),
  page: (type: Type<object>): ResponseShape => ({ kind: 'page', type }),
  /** A list of any length, which is streamed; CSV where the request accepts that before JSON. */
  table: (type: Type<object>): ResponseShape => ({ kind: 'table', type }),
  /** A bare list of which a page can be asked for, see {@link ListPage}. */
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
  anyJson: { kind: 'json' } as ResponseShape,
  none: { kind: 'none' } as ResponseShape,
};

/**
 * Declares a complete route: mapping, access and response. A route without it stops the boot. What the OpenAPI document says of
 * it follows from the same options, see `documentOperations`.
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const status = options.status ?? 200;
  return applyDecorators(
    SetMetadata(OPERATION_METADATA, options),
    RequestMapping({ path: options.path.replaceAll(/\{(\w+)\}/g, ':$1'), method: RequestMethod[options.method] }),
    HttpCode(status),
    ...(returnsSecret(options) ? [Header('Cache-Control', 'no-store')] : []),
    ...(options.readsRawQuery ? [] : [declareNoQuery]),
    // Each costs every request of its route something; most reads need none of them.
    ...interceptorsOf(options).map((interceptor) => UseInterceptors(interceptor)),
  );
}

/** In order: those after the body's can read it. */
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
