/** Privileges that an account needs on some path to make nodes, each one or another; `docs/clouds/proxmox.md` has them as a role. */
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
  // The second is what releases before 9 have.
  ['VM.GuestAgent.Audit', 'VM.Monitor'],
  ['SDN.Use'],
  ['Datastore.Audit'],
  ['Datastore.AllocateSpace'],
  ['Datastore.AllocateTemplate'],
];
