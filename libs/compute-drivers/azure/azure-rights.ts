/**
 * What a principal must be allowed in the resource group of its nodes; `docs/clouds/azure.md` has it in a role, with what
 * may be needed in other groups or not at all.
 */
export const ACTIONS: readonly string[] = [
  'Microsoft.Compute/virtualMachines/read',
  'Microsoft.Compute/virtualMachines/write',
  'Microsoft.Compute/virtualMachines/delete',
  'Microsoft.Compute/virtualMachines/start/action',
  'Microsoft.Compute/virtualMachines/deallocate/action',
  'Microsoft.Compute/disks/read',
  'Microsoft.Compute/disks/write',
  'Microsoft.Compute/disks/delete',
  'Microsoft.Network/networkInterfaces/read',
  'Microsoft.Network/networkInterfaces/write',
  'Microsoft.Network/networkInterfaces/delete',
  'Microsoft.Network/networkInterfaces/join/action',
  'Microsoft.Network/publicIPAddresses/read',
];
