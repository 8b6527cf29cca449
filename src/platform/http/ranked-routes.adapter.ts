import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { isPlain, rankRoutes, routesBySegments } from './routes-by-segments';

/**
 * Orders the routes of Express so that, of two that match a request, the more literal one is tried first, wherever they are
 * declared, and finds the few routes that may match a request without trying all of them.
 */
export class RankedRoutesAdapter extends ExpressAdapter {
  /** Nest calls this after it has registered the routes. */
  override setNotFoundHandler(...handler: Parameters<ExpressAdapter['setNotFoundHandler']>): void {
    const app = this.getInstance<Express>();
    const { stack } = app.router;
    // The routes of Nest are at the end of the stack. Handlers before them stay in place.
    const begin = stack.findLastIndex(({ route }) => !route || !isPlain(route.path)) + 1;
    const routes = rankRoutes(stack.splice(begin));
    app.use(routesBySegments(routes));
    // Express tries all of them for what is left: requests that no route matches, and OPTIONS.
    stack.push(...routes);
    super.setNotFoundHandler(...handler);
  }
}
