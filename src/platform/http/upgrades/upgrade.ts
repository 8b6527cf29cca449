import { applyDecorators, Res } from '@nestjs/common';
import type { Access } from '../../kernel/auth/access';
import { Operation } from '../operation';
import { declarePathToken } from './path-tokens';

/** What the caller gets besides the right to call; the upgrade has its path for itself. */
export interface UpgradeOptions {
  /** With `{braces}`. */
  path: string;
  /** Operation id; unique among all. */
  id: string;
  summary: string;
  tag: string;
  /** The caller must be known: it is counted by caller, and ends when the caller loses access. */
  access: Access;
  /** The parameter of the path that holds the bearer token, for clients that cannot send a header. */
  tokenInPath?: string;
  /** Whether the document of the API shows it, as far as it can. */
  isPublished?: boolean;
  /** What a caller must know beyond the summary. */
  description?: string;
  /** Statuses besides the usual ones. */
  errors?: readonly number[];
}

/**
 * Declares a method that answers a request for a WebSocket. Its parameters are filled and validated like those of an
 * {@link Operation}; it checks whatever can refuse the request, throwing errors as usual, and returns an
 * `UpgradeHandler`, which gets the socket once the handshake is done. The socket is closed when the caller would no
 * longer be admitted.
 */
export function Upgrade({ tokenInPath, isPublished = false, ...options }: UpgradeOptions): MethodDecorator {
  if (tokenInPath !== undefined) declarePathToken(options.path, tokenInPath);
  return applyDecorators(
    takeResponse,
    Operation({
      ...options,
      method: 'GET',
      answer: { kind: 'none' },
      status: 101,
      isUpgrade: true,
      // The audit log shows whatever is done over it as this.
      changesRecords: true,
      internal: !isPublished,
    }),
  );
}

/** Tells Nest that the answer is sent elsewhere, like a handler with the response among its parameters. */
function takeResponse(prototype: object, method: string | symbol): void {
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as object[];
  Res()(prototype, method, types.length);
  Reflect.defineMetadata('design:paramtypes', [...types, Object], prototype, method);
}
