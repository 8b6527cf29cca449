import type { NextFunction, Request, Response } from 'express';
import { overloaded } from '../../kernel/errors/domain-error';
import { KeyedSlots, type SlotLimits } from './keyed-slots';
import { addRequestListener } from './request-caller';

/**
 * Bounds the concurrent requests of unauthenticated callers, in all and per address. Use it behind proxies, whose
 * connections carry requests of many callers.
 */
export function unauthenticatedRequestsMiddleware(limits: SlotLimits) {
  const slots = new KeyedSlots(limits);
  return (request: Request, response: Response, next: NextFunction): void => {
    const slot = slots.take(request.ip ?? '');
    if (typeof slot === 'string') {
      const origin = slot === 'perKey' ? ' from this address' : '';
      // The status is never 429, which node agents would take for an answer of the platform to them.
      next(
        overloaded(
          'REQUEST.TOO_MANY',
          `The server has too many unauthenticated requests${origin} at once. Send the request again later.`,
        ),
      );
      return;
    }
    addRequestListener(request, { onAuthenticated: slot });
    response.once('close', slot);
    next();
  };
}
