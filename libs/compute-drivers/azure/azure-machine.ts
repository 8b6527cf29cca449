import type { VirtualMachine } from '@azure/arm-compute';
import { type Owner, ownerOf } from '../cloud-driver';
import { ComputeDriverError } from '../compute-driver';
import { dateOf } from '../machines/response-values';
import type { Machine, MachinePhase } from '../machines/cloud-port';
import { statusFault } from './azure-faults';
import { nodeNames } from './azure-requests';

/** Fields of a resource that are read. The response is not validated. */
export interface Resource {
  name?: unknown;
  tags?: unknown;
}

const PHASES: Readonly<Record<string, MachinePhase>> = {
  running: 'running',
  starting: 'starting',
  deallocating: 'stopping',
  stopping: 'stopping',
  deallocated: 'off',
  stopped: 'halted',
};

/** Reads a machine from a response; null if it belongs to no node. */
export function machineIn(resource: VirtualMachine, group: string, secrets: readonly string[]): Machine | null {
  const owner = ownerIn(resource);
  if (owner === null) return null;
  const phase = phaseOf(resource);
  const end = endOf(resource, phase);
  const { machine: name } = nodeNames(owner.nodeToken);
  return {
    id: `${group}/providers/Microsoft.Compute/virtualMachines/${name}`,
    ...{ owner, phase, end, fault: end && faultOf(resource, end, secrets) },
    isSpot: resource.priority === 'Spot',
    isCopy: String(resource.name).toLowerCase() !== name.toLowerCase(),
    createdAt: dateOf(resource.timeCreated),
    ...{ privateIp: null, publicIp: null },
  };
}

/** The power state decides before a failed last change: a machine whose start failed for lack of capacity is deallocated. */
function phaseOf(machine: VirtualMachine): MachinePhase {
  const { provisioningState } = machine;
  if (provisioningState === 'Deleting') return 'ending';
  return PHASES[powerOf(machine)] ?? (provisioningState === 'Failed' ? 'halted' : 'starting');
}

function endOf(machine: VirtualMachine, phase: MachinePhase): Machine['end'] {
  if (phase === 'off' && machine.priority === 'Spot') return 'interrupted';
  const isFailed = machine.provisioningState === 'Failed' && (phase === 'off' || powerOf(machine) === '');
  return isFailed ? 'failed' : null;
}

function faultOf(machine: VirtualMachine, end: Machine['end'], secrets: readonly string[]): ComputeDriverError {
  if (end === 'interrupted')
    return new ComputeDriverError('AZURE.EVICTED', 'Azure evicted the spot machine of this node.', {
      kind: 'capacity',
      scope: 'region',
    });
  for (const { code, message } of statusesOf(machine)) {
    const [, failure] = /^ProvisioningState\/failed\/(.+)$/i.exec(code) ?? [];
    if (failure !== undefined) return statusFault(failure, message, secrets);
  }
  return statusFault('ProvisioningFailed', 'Azure could not create the machine and gave no reason', secrets);
}

/** Returns the power state, such as `running` of `PowerState/running`. It is empty if the response has none, as during creation. */
function powerOf(machine: VirtualMachine): string {
  for (const { code } of statusesOf(machine)) {
    const [, power] = /^PowerState\/(\w+)$/.exec(code) ?? [];
    if (power !== undefined) return power;
  }
  return '';
}

function statusesOf({ instanceView }: VirtualMachine): { code: string; message: string }[] {
  const statuses: unknown = instanceView?.statuses;
  if (!Array.isArray(statuses)) return [];
  return statuses.slice(0, 100).map((status: unknown) => {
    const { code, message } = Object(status) as { code?: unknown; message?: unknown };
    return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
  });
}

/** Returns the owner that the tags of a resource name. Azure may change the case of tag names. */
export function ownerIn({ tags }: Resource): Owner | null {
  if (typeof tags !== 'object' || tags === null) return null;
  const texts = Object.entries(tags).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return ownerOf(Object.fromEntries(texts.map(([name, value]) => [name.toLowerCase(), value])));
}

/** True if a name can become a part of a path. */
export function isPartName(name: unknown): name is string {
  return typeof name === 'string' && /^[\w-][\w.-]{0,79}$/.test(name);
}
