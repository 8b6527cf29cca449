import type { NextFunction, Request, Response } from 'express';
import { overloaded } from '../../kernel/errors/domain-error';
import { KeyedSlots, type SlotLimits } from './keyed-slots';
import { addRequestListener } from './request-caller';

/**
 * Bounds the requests under way from unknown callers, in all and per address. For use behind proxies, where connections
 * say nothing about them.
 */
export function unauthenticatedRequestsMiddleware(limits: SlotLimits) {
  const slots = new KeyedSlots(limits);
  return (request: Request, response: Response, next: NextFunction): void => {
    const slot = slots.take(request.ip ?? '');
    if (typeof slot === 'string') {
      const whose = slot === 'perKey' ? 'from this address ' : '';
      // Never a 429: node agents would take that for the platform's answer to them.
      next(overloaded('REQUEST.TOO_MANY', `Too many unauthenticated requests ${whose}are under way.`));
      return;
    }
    addRequestListener(request, { onAuthenticated: slot });
    response.once('close', slot);
    next();
  };
}
