import { isIP } from 'node:net';
import type { Instance, Tag } from '@aws-sdk/client-ec2';
import { ownerOf } from '../cloud-driver';
import { ComputeDriverError, type OwnershipLabels, type ProviderNode, type ProviderNodeState } from '../compute-driver';
import { ec2Fault } from './aws-faults';

/** An instance of EC2 that is a node's. */
export interface AwsMachine {
  id: string;
  labels: OwnershipLabels;
  attempt: number;
  /** EC2's name of its state. */
  lifecycle: string;
  reason: { code: string; message: string };
  spot: boolean;
  createdAt: Date | null;
  privateIp: string | null;
  publicIp: string | null;
}

const STATES: Readonly<Record<string, ProviderNodeState>> = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  stopped: 'stopped',
  'shutting-down': 'stopping',
  terminated: 'gone',
};

/** Ends that somebody wanted. */
const WANTED = new Set(['', 'Client.UserInitiatedShutdown', 'Client.InstanceInitiatedShutdown']);
const TAKEN_BACK = new Set([
  'Server.SpotInstanceTermination',
  'Server.SpotInstanceShutdown',
  'Client.SpotInstanceTermination',
]);

/** Null for what is no node's, or no instance at all. */
export function machineIn(instance: Instance): AwsMachine | null {
  const labels = labelsIn(instance.Tags);
  const owner = ownerOf(labels);
  const { InstanceId: id } = instance;
  if (!owner || typeof id !== 'string' || !/^i-[0-9a-f]{1,32}$/.test(id)) return null;
  const { attempt, ...owned } = owner;
  return {
    id,
    labels: owned,
    attempt,
    lifecycle: String(instance.State?.Name ?? ''),
    reason: { code: instance.StateReason?.Code ?? '', message: instance.StateReason?.Message ?? '' },
    spot: instance.InstanceLifecycle === 'spot',
    createdAt: dateIn(instance.LaunchTime),
    privateIp: addressIn(instance.PrivateIpAddress),
    publicIp: addressIn(instance.PublicIpAddress),
  };
}

export function labelsIn(tags: readonly Tag[] | undefined): Record<string, string | undefined> {
  const labels: Record<string, string | undefined> = Object.create(null) as Record<string, string | undefined>;
  for (const { Key, Value } of tags ?? []) if (Key !== undefined) labels[Key] = Value;
  return labels;
}

export function dateIn(value: unknown): Date | null {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value : null;
}

function addressIn(text: string | undefined): string | null {
  return text !== undefined && isIP(text) !== 0 ? text : null;
}

/** Whether nothing of it runs or comes back; EC2 lists it for about an hour. */
export function isOver({ lifecycle }: AwsMachine): boolean {
  return lifecycle === 'terminated';
}

export function stateOf({ lifecycle, reason }: AwsMachine): ProviderNodeState {
  const ends = lifecycle === 'terminated' || lifecycle === 'shutting-down';
  if (ends && TAKEN_BACK.has(reason.code)) return 'interrupted';
  if (lifecycle === 'terminated' && !WANTED.has(reason.code)) return 'failed';
  return STATES[lifecycle] ?? 'pending';
}

/** Why it is where it is, in EC2's words; null for one that works or was ended. */
export function faultIn(machine: AwsMachine): ComputeDriverError | null {
  const state = stateOf(machine);
  if (state !== 'interrupted' && state !== 'failed') return null;
  const { code, message } = machine.reason;
  // `Server.InsufficientInstanceCapacity: …` says what a refused request would have said.
  const bare = code.replace(/^(Server|Client)\./, '');
  const fault = ec2Fault(bare, message.replace(`${code}: `, '') || code, 400, []);
  if (state === 'failed') return fault;
  return new ComputeDriverError(fault.code, fault.message, { kind: 'capacity', scope: 'zone' });
}

export function shown(machine: AwsMachine): ProviderNode {
  const { id, labels, privateIp, publicIp, createdAt } = machine;
  return {
    ...{ labels, providerRef: id, state: stateOf(machine), privateIp, publicIp, createdAt },
    fault: faultIn(machine),
  };
}
