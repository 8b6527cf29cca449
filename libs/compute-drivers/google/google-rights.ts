/** Permissions of the service account in the project of its nodes; `docs/clouds/google.md` has them as a role. */
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

/** Permissions in the project of the network, which may be another project. */
export const NETWORK_RIGHTS: readonly string[] = ['compute.subnetworks.use', 'compute.subnetworks.useExternalIp'];
