/** What a service account must be allowed in the project of its nodes; `docs/clouds/google.md` has it as a role. */
export const NODE_RIGHTS: readonly string[] = [
  'compute.addresses.delete',
  'compute.addresses.list',
  'compute.disks.create',
  'compute.disks.delete',
  'compute.disks.list',
  'compute.disks.setLabels',
  'compute.instances.create',
  'compute.instances.delete',
  'compute.instances.list',
  'compute.instances.setLabels',
  'compute.instances.setMetadata',
  'compute.instances.setServiceAccount',
  'compute.instances.setTags',
  'compute.instances.start',
  'compute.instances.stop',
  'compute.zoneOperations.list',
];

/** What it must be allowed where the network is, which may be another project. */
export const NETWORK_RIGHTS: readonly string[] = ['compute.subnetworks.use', 'compute.subnetworks.useExternalIp'];
