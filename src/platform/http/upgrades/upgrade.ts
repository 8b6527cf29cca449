import { applyDecorators, Res } from '@nestjs/common';
import { Operation } from '../operation';
import type { OperationOptions } from '../operation-options';
import { declarePathToken } from './path-tokens';

/** What an upgrade declares. No other operation has its path, and it ends when its caller, who must be known, loses access. */
export interface UpgradeOptions extends Pick<
  OperationOptions,
  'path' | 'id' | 'summary' | 'tag' | 'access' | 'description' | 'errors'
> {
  /** The parameter of the path that holds the bearer token, for clients that cannot send a header. */
  tokenInPath?: string;
  /** Whether the document of the API shows it, as far as it can. */
  isPublished?: boolean;
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
      response: { kind: 'none' },
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
