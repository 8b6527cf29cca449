/** Privileges that an account needs to create nodes. One name of each row suffices; `docs/clouds/proxmox.md` has them as a role. */
export const PRIVILEGES: readonly (readonly [string, ...string[]])[] = [
  ['Sys.Audit'],
  ['VM.Audit'],
  ['VM.Clone'],
  ['VM.Allocate'],
  ['VM.Config.CDROM'],
  ['VM.Config.CPU'],
  ['VM.Config.Disk'],
  ['VM.Config.Memory'],
  ['VM.Config.Network'],
  ['VM.Config.Options'],
  ['VM.PowerMgmt'],
  // Releases before 9 have the second name.
  ['VM.GuestAgent.Audit', 'VM.Monitor'],
  ['SDN.Use'],
  ['Datastore.Audit'],
  ['Datastore.AllocateSpace'],
  ['Datastore.AllocateTemplate'],
];
