import type { User } from '../../src/modules/foundation/iam/entities/user.entity';
import type { CreateUser, UpdateUser } from '../../src/modules/foundation/iam/users-and-groups/dto/user.dto';
import { sample } from './sample';

/** Each test passes a unique `email`. */
export const user = sample<Pick<CreateUser, 'password'>, UpdateUser, User>({
  path: '/platform/shared/admin/user',
  nameField: 'username',
  body: () => ({ password: 'a password of some length' }),
  change: { display_name: 'changed' },
  row: () => ({}),
});
