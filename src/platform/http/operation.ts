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
  type Answer,
  answersSecret,
  carriesStream,
  changesRecords,
  OPERATION_METADATA,
  type OperationOptions,
} from './operation-options';
import { ListPageInterceptor } from './list-page';
import { declareNoQuery } from './no-query';
import { UpgradeInterceptor } from './upgrades/upgrade.interceptor';

/** What an operation answers on success. */
export const Answers = {
  one: (type: Type<object>): Answer => ({ kind: 'object', type }),
  list: (type: Type<object>): Answer => ({ kind: 'list', type }),
  page: (type: Type<object>): Answer => ({ kind: 'page', type }),
  /** A list of any length, which is streamed; CSV where the request accepts that before JSON. */
  table: (type: Type<object>): Answer => ({ kind: 'table', type }),
  /** A bare list of which a page can be asked for, see {@link ListPage}. */
  pageOfList: (type: Type<object>): Answer => ({ kind: 'page-of-list', type }),
  pageOfTexts: { kind: 'values', items: { type: 'string' }, isPaged: true } as Answer,
  /** A list of JSON objects of free keys with texts. */
  textMaps: {
    kind: 'values',
    items: { type: 'object', additionalProperties: { type: 'string' } },
    isPaged: false,
  } as Answer,
  /** A JSON object of free keys with lists of texts. */
  textLists: { kind: 'text-lists' } as Answer,
  message: { kind: 'message' } as Answer,
  text: { kind: 'text' } as Answer,
  binary: { kind: 'binary' } as Answer,
  anyJson: { kind: 'json' } as Answer,
  none: { kind: 'none' } as Answer,
};

/**
 * Declares a complete route: mapping, access and answer. A route without it stops the boot. What the OpenAPI document says of
 * it follows from the same options, see `documentOperations`.
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const status = options.status ?? 200;
  return applyDecorators(
    SetMetadata(OPERATION_METADATA, options),
    RequestMapping({ path: options.path.replaceAll(/\{(\w+)\}/g, ':$1'), method: RequestMethod[options.method] }),
    HttpCode(status),
    ...(answersSecret(options) ? [Header('Cache-Control', 'no-store')] : []),
    ...(options.readsRawQuery ? [] : [declareNoQuery]),
    // Each costs every request of its route something; most reads need none of them.
    ...interceptorsOf(options).map((interceptor) => UseInterceptors(interceptor)),
  );
}

/** In order: those after the body's can read it. */
function interceptorsOf(options: OperationOptions): Type<NestInterceptor>[] {
  return [
    ...(carriesStream(options) ? [StreamInterceptor] : []),
    ...(isPageOfList(options.answer) ? [ListPageInterceptor] : []),
    ...(changesRecords(options) ? [JsonBodyInterceptor, AuditInterceptor, IdempotencyInterceptor] : []),
    ...(options.isUpgrade ? [UpgradeInterceptor] : []),
  ];
}

function isPageOfList(answer: Answer): boolean {
  return answer.kind === 'page-of-list' || (answer.kind === 'values' && answer.isPaged);
}
