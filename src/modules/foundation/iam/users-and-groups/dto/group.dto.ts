import { WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';

export class GroupListQuery extends PageQuery {
  @Param.id({ description: 'Only the groups of this user' }) user_id?: number;
}

export class GroupSearchQuery extends GroupListQuery {
  @Param.text({ optional: false, description: 'Part of the group name, ignoring case' }) groupname: string;
}

@Example({ group_name: 'example-group', group_mail: 'group@example.org', role_ids: [3] })
@About('A group of users.')
export class CreateGroup {
  @Field.name({
    description:
      'Name of the group: 1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-", unique among current groups',
  })
  group_name: string;
  @Field.email({
    optional: true,
    nullable: true,
    description: 'E-mail address of the group, at most 254 characters; null for none',
  })
  group_mail?: string | null;
  @Field.ids({ optional: true, default: [], description: 'Users to add as members' }) user_ids: number[] = [];
  @Field.ids({
    optional: true,
    default: [],
    description:
      'Roles to grant: tenant roles apply in the selected tenant; a PLATFORM ADMIN may also grant platform-wide roles',
  })
  role_ids: number[] = [];
}

@Example({ group_mail: 'example-group@example.org' })
@About('Changes to a group; at least one. Absent fields keep their values.')
export class UpdateGroup {
  @Field.name({
    optional: true,
    description:
      'New name of the group: 1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-", unique among current groups',
  })
  group_name?: string;
  @Field.email({
    optional: true,
    nullable: true,
    description: 'E-mail address of the group, at most 254 characters; null for none',
  })
  group_mail?: string | null;
}

@About('A group as returned by a write. Its id is a decimal string.')
export class GroupWrite extends WriteAudit {
  @Field.idText() group_id: string;
  @Field.text() group_name: string;
  @Field.text({ nullable: true }) group_mail: string | null;
  @Field.text({ nullable: true }) group_object_id: string | null;
  @Field.text({ nullable: true }) group_type: string | null;
}

@About('The new membership. Ids are decimal strings.')
export class GroupMemberWrite extends WriteAudit {
  @Field.idText({ description: 'Id of the membership' }) group_user_id: string;
  @Field.idText() group_id: string;
  @Field.idText() user_id: string;
}
