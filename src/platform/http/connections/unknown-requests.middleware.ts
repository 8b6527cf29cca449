import type { NextFunction, Request, Response } from 'express';
import { overloaded } from '../../errors/domain-error';
import { KeyedSlots, type SlotLimits } from './keyed-slots';
import { follow } from './request-caller';

/**
 * Bounds the requests under way whose callers are not known, in all and of one address. For use behind proxies, where
 * connections tell nothing of it.
 */
export function unknownRequestsMiddleware(limits: SlotLimits) {
  const slots = new KeyedSlots(limits);
  return (request: Request, response: Response, next: NextFunction): void => {
    const slot = slots.take(request.ip ?? '');
    if (typeof slot === 'string') {
      const whose = slot === 'ofKey' ? 'from this address ' : '';
      // Never a 429: agents of nodes take that for an answer of the platform to them.
      next(overloaded('REQUEST.TOO_MANY', `Too many unauthenticated requests ${whose}are under way.`));
      return;
    }
    follow(request, { onKnown: slot });
    response.once('close', slot);
    next();
  };
}
