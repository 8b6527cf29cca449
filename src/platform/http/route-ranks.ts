import { isForNodes } from '../kernel/auth/access';
import type { OperationOptions } from './operation-options';

const LITERAL = /^[\w.~-]+$/;
const PARAMETER = /^\{\w+\}$/;

/**
 * Throws if two operations could match the same request and neither takes precedence. Of two that match, the one that has a
 * literal at the first segment in which only one of them has a literal takes precedence (`RankedRoutesAdapter`). So only
 * operations with literals and parameters at the same segments can conflict.
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

/** Returns the path as Express matches it, ignoring case of literals and names of parameters. */
function shapeOf(path: string): string {
  const [root, ...segments] = path.split('/');
  const isUnderstood = root === '' && segments.every((text) => LITERAL.test(text) || PARAMETER.test(text));
  if (!isUnderstood) throw new Error(`A path consists of /literals and /{parameters}, but this one does not: ${path}`);
  return segments.map((segment) => (PARAMETER.test(segment) ? '{}' : segment.toLowerCase())).join('/');
}
