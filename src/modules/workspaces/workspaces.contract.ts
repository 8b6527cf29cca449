/** What other modules may know about workspaces without their services. */
export { servesWorkspace } from './cluster-workspaces.repository';
