import { Field } from '../../../../../platform/kernel/dto/fields';

export class UserRead {
  @Field.id() user_id: number;
  @Field.text() username: string;
  @Field.text({ nullable: true }) display_name: string | null;
  @Field.text() email: string;
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity';
}

export class GroupRead {
  @Field.id() group_id: number;
  @Field.text() group_name: string;
  @Field.text({ nullable: true }) group_mail: string | null;
  @Field.text({ nullable: true }) group_object_id: string | null;
  @Field.text({ nullable: true }) group_type: string | null;
  @Field.timestamp() from_date: Date;
  @Field.validityEnd() to_date: Date | 'infinity';
}
