import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../../platform/http/operation';
import { TextParam } from '../../../../platform/http/parameters';
import { GroupRead, UserRead } from '../users-and-groups/dto/directory.dto';
import { DirectorySyncService } from './directory-sync.service';

const TAG = 'Directory';

@Controller()
export class DirectorySyncController {
  constructor(private readonly service: DirectorySyncService) {}

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/sync/user/{username}',
    id: 'syncUser',
    summary: 'Refresh a user and their groups from the directory',
    description:
      'With LDAP, reads the user and their groups from the directory, stores them and returns the account. If the directory no longer has the user, the account is disabled, its sessions and tokens end, and the answer is 404. Without LDAP, the stored account is returned.',
    tag: TAG,
    access: Allow.platform(ADMINS),
    response: Responses.one(UserRead),
    changesRecords: true,
  })
  syncUser(@CurrentPrincipal() principal: Principal, @TextParam('username') username: string): Promise<UserRead> {
    return this.service.syncUser(principal, username);
  }

  @Operation({
    method: 'GET',
    path: '/platform/shared/admin/sync/group/{groupname}',
    id: 'syncGroup',
    summary: 'Refresh a group and its members from the directory',
    description:
      'With LDAP, reads the group and its members from the directory, stores them and returns the group. If the directory no longer has the group, its members are removed and the answer is 404; its roles stay. Without LDAP, the stored group is returned.',
    tag: TAG,
    access: Allow.platform(ADMINS),
    response: Responses.one(GroupRead),
    changesRecords: true,
  })
  syncGroup(@CurrentPrincipal() principal: Principal, @TextParam('groupname') groupName: string): Promise<GroupRead> {
    return this.service.syncGroup(principal, groupName);
  }
}
