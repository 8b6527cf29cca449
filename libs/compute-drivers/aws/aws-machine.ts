import type { Instance, StateReason, Tag } from '@aws-sdk/client-ec2';
import { ownerOf } from '../cloud-driver';
import { ComputeDriverError } from '../compute-driver';
import { addressOf, dateOf } from '../machines/response-values';
import type { Machine, MachinePhase } from '../machines/cloud-port';
import { ec2Fault } from './aws-faults';

const PHASES: Readonly<Record<string, MachinePhase>> = {
  pending: 'starting',
  running: 'running',
  stopping: 'stopping',
  stopped: 'off',
  'shutting-down': 'ending',
  terminated: 'over',
};

/** Reasons of machines that somebody stopped or terminated on purpose. */
const REQUESTED_ENDS = new Set(['', 'Client.UserInitiatedShutdown', 'Client.InstanceInitiatedShutdown']);
const SPOT_INTERRUPTIONS = new Set([
  'Server.SpotInstanceTermination',
  'Server.SpotInstanceShutdown',
  'Client.SpotInstanceTermination',
]);

/** Reads a machine from a response; null if it belongs to no node or has no valid id. */
export function machineIn(instance: Instance): Machine | null {
  const owner = ownerOf(labelsIn(instance.Tags));
  const { InstanceId: id, StateReason: reason } = instance;
  if (!owner || typeof id !== 'string' || !/^i-[0-9a-f]{1,32}$/.test(id)) return null;
  const phase = PHASES[String(instance.State?.Name ?? '')] ?? 'starting';
  const end = endOf(phase, reason?.Code ?? '');
  return {
    ...{ id, owner, phase, end, fault: end && faultIn(end, reason ?? {}) },
    isSpot: instance.InstanceLifecycle === 'spot',
    createdAt: dateOf(instance.LaunchTime),
    privateIp: addressOf(instance.PrivateIpAddress),
    publicIp: addressOf(instance.PublicIpAddress),
  };
}

export function labelsIn(tags: readonly Tag[] | undefined): Record<string, string | undefined> {
  const labels: Record<string, string | undefined> = Object.create(null) as Record<string, string | undefined>;
  for (const { Key, Value } of tags ?? []) if (Key !== undefined) labels[Key] = Value;
  return labels;
}

function endOf(phase: MachinePhase, reason: string): Machine['end'] {
  if ((phase === 'over' || phase === 'ending') && SPOT_INTERRUPTIONS.has(reason)) return 'interrupted';
  return phase === 'over' && !REQUESTED_ENDS.has(reason) ? 'failed' : null;
}

function faultIn(end: Machine['end'], { Code: code = '', Message: message = '' }: StateReason): ComputeDriverError {
  // `Server.InsufficientInstanceCapacity: …` says what a refused request would have said.
  const bare = code.replace(/^(Server|Client)\./, '');
  const fault = ec2Fault(bare, message.replace(`${code}: `, '') || code, 400, []);
  if (end === 'failed') return fault;
  return new ComputeDriverError(fault.code, fault.message, { kind: 'capacity', scope: 'zone' });
}
