import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';

class UserGroup {
  @Field.id() group_id: number;
  @Field.text() groupname: string;
}

export class UserInfo {
  @Field.id() user_id: number;
  @Field.uuid({ nullable: true }) tenant_id: string | null;
  @Field.text() username: string;
  @Field.text({ nullable: true }) display_name: string | null;
  @Field.text() email: string;
  @Field.objects(() => UserGroup) group_info: UserGroup[];
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity';
}

export class TenantSelection {
  @Field.text() message: string;
  @Field.idText() user_id: string;
  @Field.uuid() tenant_id: string;
  @Field.text() tenant_name: string;
}

export class MyRolesQuery {
  @Param.uuid({ description: 'The selected tenant if absent' }) tenant_id?: string;
}

@Example({ current_password: 'another-long-password', new_password: 'yet-another-long-password' })
export class ChangePassword {
  @Field.text({ minLength: 1, maxLength: 1024 }) current_password: string;
  @Field.text({ minLength: 12, maxLength: 256 }) new_password: string;
}
