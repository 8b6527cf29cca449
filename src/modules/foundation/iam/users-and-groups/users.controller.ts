import { Body, Controller, Param, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import type { Page } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import { UserRead } from './dto/directory.dto';
import { CreateUser, SetPassword, UpdateUser, UserListQuery, UserSearchQuery, UserWrite } from './dto/user.dto';
import { UsersService } from './users.service';

const tag = 'Users';
const BUILT_IN = ' Accounts of other directories are refused with 409.';
const OWNED_ONLY = 'An ADMIN may change accounts that the selected tenant owns; a PLATFORM ADMIN may change all.';
const access = Allow.platform(['PLATFORM ADMIN', 'ADMIN']);

@Controller()
export class UsersController {
  constructor(private readonly service: UsersService) {}

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/users',
    id: 'listUsers',
    summary: 'List every user of the deployment, or the members of a group',
    description:
      'Returns the accounts of every tenant and of the platform, or only the members of the group that group_id names.',
    tag,
    access,
    response: Responses.page(UserRead),
  })
  list(@Query() query: UserListQuery): Promise<Page<UserRead>> {
    return this.service.list(query);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/search/users',
    id: 'searchUsers',
    summary: 'Search the users by part of the user name',
    description: 'Returns the accounts whose user name contains the text, ignoring case.',
    tag,
    access,
    response: Responses.page(UserRead),
  })
  search(@Query() query: UserSearchQuery): Promise<Page<UserRead>> {
    return this.service.list(query, query.username);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/match/user/{username}',
    id: 'matchUser',
    summary: 'Get a user by the full user name',
    description: 'Returns the account with exactly this user name; if there is none, the answer is 404.',
    tag,
    access,
    response: Responses.one(UserRead),
  })
  @ApiParam({ name: 'username', type: String, description: 'Exact name of the user' })
  match(@Param('username') username: string): Promise<UserRead> {
    return this.service.match(username);
  }

  @Operation({
    method: 'POST',
    path: '/platform/shared/admin/user',
    id: 'createUser',
    summary: 'Create a user, optionally with roles',
    description:
      'Creates an account in the built-in directory, with groups and roles if they are sent. The selected tenant owns it, and its administrators may change it; the platform owns an account that a PLATFORM ADMIN creates. A user name or e-mail address that is already in use is refused with 409.',
    tag,
    access,
    response: Responses.one(UserWrite),
    errors: [409],
  })
  create(@CurrentPrincipal() caller: Principal, @Body() body: CreateUser): Promise<UserWrite> {
    return this.service.create(caller, body);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/user/{user_id}',
    id: 'getUserById',
    summary: 'Get a user by id',
    description: 'Returns one account, even if it holds no role in any tenant.',
    tag,
    access,
    response: Responses.one(UserRead),
  })
  get(@IdParam('user_id') userId: number): Promise<UserRead> {
    return this.service.get(userId);
  }

  @Operation({
    method: 'PUT',
    path: '/platform/shared/admin/user/{user_id}',
    id: 'updateUser',
    summary: 'Update a user',
    description: `Changes display name and e-mail address, at least one. The user name never changes.${BUILT_IN} ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.one(UserWrite),
    status: 201,
    errors: [409],
  })
  update(
    @CurrentPrincipal() caller: Principal,
    @IdParam('user_id') userId: number,
    @Body() body: UpdateUser,
  ): Promise<UserWrite> {
    return this.service.update(caller, userId, body);
  }

  @Operation({
    method: 'PUT',
    path: '/platform/shared/admin/user/{user_id}/password',
    id: 'setUserPassword',
    summary: 'Set the password of a user and end all of its sessions',
    description: `Replaces the password. All sessions and tokens of the user end.${BUILT_IN} ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  setPassword(
    @CurrentPrincipal() caller: Principal,
    @IdParam('user_id') userId: number,
    @Body() body: SetPassword,
  ): Promise<Message> {
    return this.service.setPassword(caller, userId, body);
  }

  @Operation({
    method: 'PUT',
    path: '/platform/shared/admin/user/{user_id}/disable',
    id: 'disableUser',
    summary: 'Disable an account and end all of its sessions and tokens',
    description: `The user can no longer log in; all sessions and tokens end. Your own account, the last PLATFORM ADMIN and an account that is already disabled are refused with 409. ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.one(UserWrite),
    status: 201,
    errors: [409],
  })
  disable(@CurrentPrincipal() caller: Principal, @IdParam('user_id') userId: number): Promise<UserWrite> {
    return this.service.disable(caller, userId);
  }

  @Operation({
    method: 'PUT',
    path: '/platform/shared/admin/user/{user_id}/enable',
    id: 'enableUser',
    summary: 'Enable a disabled account',
    description: `The user can log in again. Sessions and tokens that have ended stay ended. An account that is already enabled is refused with 409. ${OWNED_ONLY}`,
    tag,
    access,
    response: Responses.one(UserWrite),
    status: 201,
    errors: [409],
  })
  enable(@CurrentPrincipal() caller: Principal, @IdParam('user_id') userId: number): Promise<UserWrite> {
    return this.service.enable(caller, userId);
  }
}
