import { Allow, type Access } from '../kernel/auth/access';
import { accessSnapshot } from './access-snapshot';
import { Responses } from './operation';
import type { OperationOptions } from './operation-options';

function operation(method: OperationOptions['method'], path: string, id: string, access: Access): OperationOptions {
  return { method, path, id, access, summary: '', tag: '', response: Responses.none };
}

describe('accessSnapshot', () => {
  it('has a line for each operation by path and method, and a section for node agents', () => {
    const text = accessSnapshot([
      operation('POST', '/poll', 'agentPoll', Allow.nodes),
      operation('PUT', '/record', 'updateRecord', Allow.tenant(['ADMIN'])),
      operation('GET', '/record', 'getRecord', Allow.workspace('VIEW')),
      operation('GET', '/open', 'getOpen', Allow.everyone),
    ]);
    expect(text.split('\n').filter((line) => /^[-#]/.test(line))).toEqual([
      '# Who may call what',
      '## Below `/api/v1`',
      '- `GET /open` getOpen: No token is needed.',
      '- `GET /record` getRecord: At least VIEW on the workspace; ADMIN and PLATFORM ADMIN need no permission.',
      '- `PUT /record` updateRecord: Roles: ADMIN in the selected tenant.',
      '## Below `/agent/v1`',
      '- `POST /poll` agentPoll: A node agent with its token.',
    ]);
  });
});
