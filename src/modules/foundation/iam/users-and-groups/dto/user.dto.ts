import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';

const PASSWORD = { minLength: 12, maxLength: 256 };
const DISPLAY_NAME = { optional: true, nullable: true, minLength: 1, maxLength: 256 };

export class UserListQuery extends PageQuery {
  @Param.id({ description: 'Only the members of this group' }) group_id?: number;
}

export class UserSearchQuery extends UserListQuery {
  @Param.text({ optional: false, description: 'Part of the user name, case-insensitive' }) username: string;
}

@Example({ username: 'example-user', email: 'user@example.org', password: 'a-long-example-password', role_ids: [3] })
export class CreateUser {
  @Field.name() username: string;
  @Field.text(DISPLAY_NAME) display_name?: string | null;
  @Field.email() email: string;
  @Field.text(PASSWORD) password: string;
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
export class UpdateUser {
  @Field.text(DISPLAY_NAME) display_name?: string | null;
  @Field.email({ optional: true }) email?: string;
}

@Example({ new_password: 'another-long-password' })
export class SetPassword {
  @Field.text(PASSWORD) new_password: string;
}

export class UserWrite extends WriteAudit {
  @Field.idText() user_id: string;
  @Field.text() username: string;
  @Field.text({ nullable: true }) display_name: string | null;
  @Field.text() email: string;
}
