import { isForNodes } from '../kernel/auth/access';
import type { OperationOptions } from './operation-options';

const LITERAL = /^[\w.~-]+$/;
const PARAMETER = /^\{\w+\}$/;

/**
 * Throws if two operations could match the same request and neither takes precedence. Of two that match, the one with a
 * literal segment where they first differ in kind is tried first, wherever it is declared (`RankedRoutesAdapter`). That
 * leaves those with literals and parameters in the same places.
 */
export function assertDistinctRoutes(operations: readonly OperationOptions[]): void {
  const routes = new Map<string, OperationOptions>();
  for (const operation of operations) {
    const { method, path, access, id } = operation;
    // The API of agents has a prefix of its own.
    const route = `${isForNodes(access)} ${method} ${shapeOf(path)}`;
    const other = routes.get(route);
    if (other) throw new Error(`${other.id} and ${id} could both match a request: ${method} ${other.path} and ${path}`);
    routes.set(route, operation);
  }
}

/** The path as Express distinguishes it: ignoring case of literals and names of parameters. */
function shapeOf(path: string): string {
  const [root, ...segments] = path.split('/');
  const isUnderstood = root === '' && segments.every((text) => LITERAL.test(text) || PARAMETER.test(text));
  if (!isUnderstood) throw new Error(`A path is made of /literals and /{parameters}; this is not: ${path}`);
  return segments.map((segment) => (PARAMETER.test(segment) ? '{}' : segment.toLowerCase())).join('/');
}
