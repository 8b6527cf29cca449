import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';

const PASSWORD = { minLength: 12, maxLength: 256 };
const DISPLAY_NAME = { optional: true, nullable: true, minLength: 1, maxLength: 256 };

export class UserListQuery extends PageQuery {
  @Param.id({ description: 'Only the members of this group' }) group_id?: number;
}

export class UserSearchQuery extends UserListQuery {
  @Param.text({ optional: false, description: 'Part of the user name, ignoring case' }) username: string;
}

@Example({ username: 'example-user', email: 'user@example.org', password: 'a-long-example-password', role_ids: [3] })
@About('The account of a person or a program.')
export class CreateUser {
  @Field.name({
    description:
      'Name that the user logs in with: 1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-". It is unique and never changes',
  })
  username: string;
  @Field.text({ ...DISPLAY_NAME, description: 'Display name, 1 to 256 characters; null for none' })
  display_name?: string | null;
  @Field.email({ description: 'E-mail address, at most 254 characters, that no other account has' }) email: string;
  @Field.text({ ...PASSWORD, description: 'Password, 12 to 256 characters. It is never returned' }) password: string;
  @Field.ids({ optional: true, default: [], description: 'Groups to add the user to' })
  group_ids: number[] = [];
  @Field.ids({
    optional: true,
    default: [],
    description:
      'Roles to grant: tenant roles apply in the selected tenant; a PLATFORM ADMIN may also grant platform-wide roles',
  })
  role_ids: number[] = [];
}

@Example({ display_name: 'Example User' })
@About('Changes to an account; at least one. Absent fields keep their values.')
export class UpdateUser {
  @Field.text({ ...DISPLAY_NAME, description: 'Display name, 1 to 256 characters; null for none' })
  display_name?: string | null;
  @Field.email({ optional: true, description: 'E-mail address, at most 254 characters, that no other account has' })
  email?: string;
}

@Example({ new_password: 'another-long-password' })
@About('The new password of the user.')
export class SetPassword {
  @Field.text({ ...PASSWORD, description: 'The new password: 12 to 256 characters' })
  new_password: string;
}

@About('An account as returned by a write. Its id is a decimal string.')
export class UserWrite extends WriteAudit {
  @Field.idText() user_id: string;
  @Field.text() username: string;
  @Field.text({ nullable: true }) display_name: string | null;
  @Field.text({ description: 'E-mail address' }) email: string;
}
