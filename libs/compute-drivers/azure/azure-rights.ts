/**
 * Actions that a principal needs in the resource group of its nodes. The role in `docs/clouds/azure.md` has them, with actions
 * that only some setups need.
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
