import type { NextFunction, Request, Response } from 'express';
import { overloaded, tooMany } from '../../errors/domain-error';
import { KeyedSlots, type SlotLimits } from './keyed-slots';
import { onceKnown } from './request-caller';

/**
 * Bounds the requests under way whose callers are not known, in all and of one address: behind proxies, connections tell
 * nothing of it.
 */
export function unknownRequestsMiddleware(limits: SlotLimits) {
  const slots = new KeyedSlots(limits);
  return (request: Request, response: Response, next: NextFunction): void => {
    const slot = slots.take(request.ip ?? '');
    if (slot === 'ofKey') {
      next(tooMany('REQUEST.TOO_MANY', 'Too many requests of this address are under way that have not authenticated.'));
    } else if (slot === 'all') {
      next(overloaded('REQUEST.TOO_MANY', 'Too many requests are under way that have not authenticated.'));
    } else {
      onceKnown(request, slot);
      response.once('close', slot);
      next();
    }
  };
}
