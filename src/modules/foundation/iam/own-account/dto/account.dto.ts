import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';

@About('A group that the user is a member of.')
class UserGroup {
  @Field.id() group_id: number;
  @Field.text({ description: 'Name of the group' }) groupname: string;
}

@About('The logged-in user.')
export class UserInfo {
  @Field.id() user_id: number;
  @Field.uuid({ nullable: true, description: 'The tenant that is selected for the session; null if none is' })
  tenant_id: string | null;
  @Field.text() username: string;
  @Field.text({ nullable: true }) display_name: string | null;
  @Field.text({ description: 'E-mail address' }) email: string;
  @Field.objects(() => UserGroup, { description: 'Groups that the user is a member of' }) group_info: UserGroup[];
  @Field.timestamp({ description: 'When the account was created' }) from_date: Date;
  @Field.validityEnd({
    description: 'When the account was disabled, in ISO 8601; `infinity` while it is enabled; null means the same',
  })
  to_date: Date | 'infinity';
}

@About('The tenant that is selected from now on.')
export class TenantSelection {
  @Field.text({ description: 'What was done, in one sentence' }) message: string;
  @Field.idText() user_id: string;
  @Field.uuid({ description: 'The selected tenant' }) tenant_id: string;
  @Field.text({ description: 'Name of the selected tenant' }) tenant_name: string;
}

export class MyRolesQuery {
  @Param.uuid({ description: 'The selected tenant if absent' }) tenant_id?: string;
}

@Example({ current_password: 'another-long-password', new_password: 'yet-another-long-password' })
@About('Your current and your new password.')
export class ChangePassword {
  @Field.text({ minLength: 1, maxLength: 1024, description: 'Your current password' })
  current_password: string;
  @Field.text({
    minLength: 12,
    maxLength: 256,
    description: 'The new password: 12 to 256 characters, different from the current one',
  })
  new_password: string;
}
