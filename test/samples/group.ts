import type { Group } from '../../src/modules/foundation/iam/entities/group.entity';
import type { CreateGroup, UpdateGroup } from '../../src/modules/foundation/iam/users-and-groups/dto/group.dto';
import { sample } from './sample';

export const group = sample<Partial<CreateGroup>, UpdateGroup, Group>({
  path: '/platform/shared/admin/group',
  nameField: 'group_name',
  body: () => ({}),
  change: { group_mail: 'changed@example.org' },
});
