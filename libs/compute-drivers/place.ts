/** Where a node is made, in the provider's own names; null for what its provider does not have or chooses itself. */
export interface Place {
  /** Project, resource group or compartment. */
  account: string | null;
  region: string | null;
  zone: string | null;
  /** The network's own account where it is another one: a host project, or the resource group of a shared network. */
  networkAccount: string | null;
  /** A network, or the bridge of a machine room. */
  network: string | null;
  subnet: string | null;
  networkTags: readonly string[];
  /** Model of a virtual machine's network card. */
  networkCard: string | null;
  /** Machines that may carry the node, where users name them. */
  hosts: readonly string[];
}
