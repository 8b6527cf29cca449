import { Body, Controller, Param, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import type { Page } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import {
  CreateGroup,
  GroupListQuery,
  GroupMemberWrite,
  GroupSearchQuery,
  GroupWrite,
  UpdateGroup,
} from './dto/group.dto';
import { GroupRead } from './dto/directory.dto';
import { GroupsService } from './groups.service';

const tag = 'Groups';
const BUILT_IN = ' Groups of other directories are refused with 409.';
const OWNED_ONLY = 'An ADMIN may change groups that the selected tenant owns; a PLATFORM ADMIN may change all.';
const MEMBER_MOVES =
  'If a PLATFORM ADMIN adds an account that a tenant owns, it moves to the platform, just as if the roles were granted to it directly.';
const access = Allow.platform(['PLATFORM ADMIN', 'ADMIN']);

@Controller()
export class GroupsController {
  constructor(private readonly service: GroupsService) {}

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/groups',
    id: 'listGroups',
    summary: 'List every group of the deployment, or the groups of a user',
    description:
      'Returns the groups of every tenant and of the platform, or only those of the user that user_id names.',
    tag,
    access,
    response: Responses.page(GroupRead),
  })
  list(@Query() query: GroupListQuery): Promise<Page<GroupRead>> {
    return this.service.list(query);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/search/groups',
    id: 'searchGroups',
    summary: 'Search the groups by part of the name',
    description: 'Returns the groups whose name contains the text, ignoring case.',
    tag,
    access,
    response: Responses.page(GroupRead),
  })
  search(@Query() query: GroupSearchQuery): Promise<Page<GroupRead>> {
    return this.service.list(query, query.groupname);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/match/group/{groupname}',
    id: 'matchGroup',
    summary: 'Get the groups with this name, at most one per directory',
    description:
      'Returns the groups with exactly this name; each directory can have one. If there is none, the answer is 404.',
    tag,
    access,
    response: Responses.list(GroupRead),
  })
  @ApiParam({ name: 'groupname', type: String, description: 'Exact name of the group' })
  match(@Param('groupname') groupName: string): Promise<GroupRead[]> {
    return this.service.match(groupName);
  }

  @Operation({
    method: 'POST',
    path: '/platform/shared/admin/group',
    id: 'createGroup',
    summary: 'Create a group, optionally with roles',
    description:
      'Creates a group in the built-in directory with its first members and roles. The selected tenant owns it, and its administrators may change it; the platform owns a group that a PLATFORM ADMIN creates. A name that is already in use is refused with 409.',
    tag,
    access,
    response: Responses.one(GroupWrite),
    errors: [409],
  })
  create(@CurrentPrincipal() caller: Principal, @Body() body: CreateGroup): Promise<GroupWrite> {
    return this.service.create(caller, body);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/group/{group_id}',
    id: 'getGroupById',
    summary: 'Get a group by id',
    description: 'Returns one group, even if it holds no role in any tenant.',
    tag,
    access,
    response: Responses.one(GroupRead),
  })
  get(@IdParam('group_id') groupId: number): Promise<GroupRead> {
    return this.service.get(groupId);
  }

  @Operation({
    method: 'PUT',
    path: '/platform/shared/admin/group/{group_id}',
    id: 'updateGroup',
    summary: 'Update a group',
    description: `Changes the fields that are sent, at least one.${BUILT_IN} ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.one(GroupWrite),
    status: 201,
    errors: [409],
  })
  update(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') groupId: number,
    @Body() body: UpdateGroup,
  ): Promise<GroupWrite> {
    return this.service.update(caller, groupId, body);
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/shared/admin/group/{group_id}',
    id: 'deleteGroup',
    summary: 'Delete a group that holds no role and no workspace permission',
    description: `Removes the group and its memberships. It is refused with 409 while the group holds a role or a permission on a workspace.${BUILT_IN} ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  delete(@CurrentPrincipal() caller: Principal, @IdParam('group_id') groupId: number): Promise<Message> {
    return this.service.delete(caller, groupId);
  }

  @Operation({
    method: 'POST',
    path: '/platform/shared/admin/group/{group_id}/user/{user_id}',
    id: 'addGroupMember',
    summary: 'Make a user a member of a group',
    description: `The user gets the roles and permissions of the group from the next request on. A user who is already a member is refused with 409.${BUILT_IN} ${OWNED_ONLY} ${MEMBER_MOVES}`,
    tag,
    access,
    response: Responses.one(GroupMemberWrite),
    errors: [409],
  })
  addMember(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') groupId: number,
    @IdParam('user_id') userId: number,
  ): Promise<GroupMemberWrite> {
    return this.service.addMember(caller, groupId, userId);
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/shared/admin/group/{group_id}/user/{user_id}',
    id: 'removeGroupMember',
    summary: 'Remove a user from a group',
    description: `The user loses the roles and permissions of the group from the next request on. You cannot remove your own last ADMIN role in this way (409).${BUILT_IN} ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  removeMember(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') groupId: number,
    @IdParam('user_id') userId: number,
  ): Promise<Message> {
    return this.service.removeMember(caller, groupId, userId);
  }
}
