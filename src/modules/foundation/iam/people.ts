/** What other modules may know about users and groups. */
export { GroupRead, UserRead } from './users-and-groups/dto/people.dto';
export { heldRoles } from './roles/roles.repository';
export { groupRead, userRead } from './users-and-groups/directory-answers';
