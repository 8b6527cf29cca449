import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';

type Layers = Express['router']['stack'];

/**
 * Orders the routes of Express so that, of two that match a request, the more literal one is tried first, wherever they are
 * declared. Otherwise routes stay in the order of declaration, the most requested first. Nest's own order by specificity
 * (`routeResolutionStrategy`) puts the longest first, which costs lookups about a tenth of their throughput.
 */
export class RankedRoutesAdapter extends ExpressAdapter {
  /** Nest calls this after it has registered the routes. */
  override setNotFoundHandler(...handler: Parameters<ExpressAdapter['setNotFoundHandler']>): void {
    rankRoutes(this.getInstance<Express>().router.stack);
    super.setNotFoundHandler(...handler);
  }
}

/** Sorts the routes of Nest, which are at the end of the stack. Handlers before them stay in place. */
function rankRoutes(stack: Layers): void {
  const begin = stack.findLastIndex(({ route }) => !route) + 1;
  const firstOfLength = new Map<number, number>();
  const ranked = stack.slice(begin).map((layer, index) => {
    const segments = String(layer.route?.path).split('/');
    // Routes of different lengths never match the same request, because they have no wildcards (assertDistinctRoutes).
    const group = firstOfLength.get(segments.length) ?? index;
    firstOfLength.set(segments.length, group);
    const kinds = segments.map((segment) => (segment.startsWith(':') ? 'p' : 'l')).join('');
    return { layer, group, kinds, index };
  });
  ranked.sort(
    (one, other) =>
      one.group - other.group ||
      (one.kinds === other.kinds ? one.index - other.index : one.kinds < other.kinds ? -1 : 1),
  );
  stack.splice(begin, ranked.length, ...ranked.map(({ layer }) => layer));
}
