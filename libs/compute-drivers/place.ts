/** Place of a node, in the provider's names. Null stands for what the provider does not have or chooses itself. */
export interface Place {
  /** Project, resource group or compartment. */
  account: string | null;
  region: string | null;
  zone: string | null;
  /** The network's account if it is another one: a host project, or the resource group of a shared network. */
  networkAccount: string | null;
  /** A network, or a bridge on premises. */
  network: string | null;
  subnet: string | null;
  networkTags: readonly string[];
  /** Model of a virtual machine's network card. */
  networkCard: string | null;
  /** Hosts that may run the node; empty for any. */
  hosts: readonly string[];
}
