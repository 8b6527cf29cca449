import { applyDecorators, Res } from '@nestjs/common';
import type { Access } from '../../auth/access';
import { Operation } from '../operation';

/** What the caller gets besides the right to call; the upgrade has its path for itself. */
export interface UpgradeOptions {
  /** With `{braces}`. */
  path: string;
  /** Operation id; unique among all. */
  id: string;
  summary: string;
  tag: string;
  /** Somebody has to be known: it is counted by caller, and ends when the caller may no more. */
  access: Access;
}

/**
 * Declares a method as what answers a request for a WebSocket. Its parameters are filled and validated as those of an
 * {@link Operation}; it looks at whatever can refuse the request, by an error as anywhere, and answers an `UpgradeHandler`,
 * which gets the socket once the handshake is done. The socket is closed when the caller would be admitted no more.
 */
export function Upgrade(options: UpgradeOptions): MethodDecorator {
  return applyDecorators(
    takeResponse,
    Operation({
      ...options,
      method: 'GET',
      answer: { kind: 'none' },
      status: 101,
      isUpgrade: true,
      // Whatever is done over it shows in the audit log as this.
      changesRecords: true,
      internal: true,
    }),
  );
}

/** Tells Nest that the answer is given otherwise, as a handler does that has the response among its parameters. */
function takeResponse(prototype: object, method: string | symbol): void {
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as object[];
  Res()(prototype, method, types.length);
  Reflect.defineMetadata('design:paramtypes', [...types, Object], prototype, method);
}
