export { ActiveTenantsService } from './active-tenants.service';
export { AccountsService } from './accounts.service';
export { heldRoles } from './roles/roles.joins';
export { groupRead, userRead } from './users-and-groups/directory-responses';
export { GroupRead, UserRead } from './users-and-groups/dto/directory.dto';
