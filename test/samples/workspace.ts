import type { CreateWorkspace, UpdateWorkspace } from '../../src/modules/execution/workspaces/dto/workspace.dto';
import type { Workspace } from '../../src/modules/execution/workspaces/entities/workspace.entity';
import { sample } from './sample';

export const workspace = sample<CreateWorkspace, UpdateWorkspace, Workspace>({
  path: '/workspace',
  body: () => ({}),
  change: { description: 'changed' },
});
