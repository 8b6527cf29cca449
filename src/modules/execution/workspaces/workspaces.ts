/** What other modules may know about workspaces without their services. */
export { mayRun, sharedWith } from './workspaces.repository';
export { servesWorkspace } from './cluster-workspaces.repository';
