import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

@About('An account of a person or a program.')
export class UserRead {
  @Field.id() user_id: number;
  @Field.text() username: string;
  @Field.text({ nullable: true }) display_name: string | null;
  @Field.text({ description: 'E-mail address' }) email: string;
  @Field.timestamp({ description: 'When the account was created' }) from_date: Date;
  @Field.validityEnd({
    description: 'When the account was disabled, in ISO 8601; `infinity` while it is enabled; null means the same',
  })
  to_date: Date | 'infinity';
}

@About('A group of users. Its roles and permissions are those of all its members.')
export class GroupRead {
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Field.text({ nullable: true }) group_mail: string | null;
  @Field.text({ nullable: true }) group_object_id: string | null;
  @Field.text({ nullable: true }) group_type: string | null;
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity';
}
