import { applyDecorators, Res } from '@nestjs/common';
import { Operation } from '../operation';
import type { OperationOptions } from '../operation-options';
import { declarePathToken } from './path-tokens';

/** Options of an upgrade. No other operation may have its path. It ends when its caller, who must be known, loses access. */
export interface UpgradeOptions extends Pick<
  OperationOptions,
  'path' | 'id' | 'summary' | 'tag' | 'access' | 'description' | 'isExtension' | 'errors'
> {
  /** The parameter of the path that holds the bearer token, for clients that cannot send a header. */
  tokenInPath?: string;
  /** True if the OpenAPI document shows the upgrade, as far as it can. */
  isPublished?: boolean;
}

/**
 * Declares a method that serves requests for a WebSocket. Its parameters are filled and validated like those of an
 * {@link Operation}. It checks whether the request must be refused, throws errors as usual, and returns an `UpgradeHandler`,
 * which gets the socket once the handshake is done. The socket is closed when the caller loses access.
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
      // The audit log has one row for everything that is done over the socket.
      changesRecords: true,
      internal: !isPublished,
    }),
  );
}

/** Adds a response parameter to the handler, so that Nest sends no response itself. */
function takeResponse(prototype: object, method: string | symbol): void {
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as object[];
  Res()(prototype, method, types.length);
  Reflect.defineMetadata('design:paramtypes', [...types, Object], prototype, method);
}
