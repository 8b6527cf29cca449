import { AGENT_BASE_PATH } from '../../../libs/contracts/agent-protocol';
import { isForNodes } from '../kernel/auth/access';
import { API_PREFIX } from './openapi';
import { describeAccess } from './operation-document';
import type { OperationOptions } from './operation-options';

const HEAD = `# Who may call what

\`npm run openapi\` writes this page from the declarations that the guards enforce, and a test compares them. It has one line
for each operation, so that a reviewer sees whose access a change widens or narrows.
`;

/** Returns Markdown with one line for each operation: method, path, operation id, and who may call it. */
export function accessSnapshot(operations: readonly OperationOptions[]): string {
  const open = operations.filter(({ access }) => !isForNodes(access));
  const nodes = operations.filter(({ access }) => isForNodes(access));
  return [HEAD, section(API_PREFIX, open), section(AGENT_BASE_PATH, nodes)].join('\n');
}

function section(prefix: string, operations: readonly OperationOptions[]): string {
  const lines = operations
    .map((operation) => ({ ...operation, key: `${operation.path} ${operation.method}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(
      ({ method, path, id, access, isUpgrade }) =>
        `- \`${method} ${path}\` ${id}${isUpgrade ? ' (WebSocket)' : ''}: ${describeAccess(access)}\n`,
    );
  return `## Below \`/${prefix.replace(/^\//, '')}\`\n\n${lines.join('')}`;
}
