import type { models } from 'oci-core';
import { ownerOf } from '../cloud-driver';
import { ComputeDriverError, type OwnershipLabels, type ProviderNode, type ProviderNodeState } from '../compute-driver';
import { isOcid, textOf } from './oci-connection';

/** An instance that some installation made, as far as the answer can be relied on. */
export interface OciMachine {
  id: string;
  labels: OwnershipLabels;
  attempt: number;
  /** Oracle's lifecycle state. */
  lifecycle: string;
  /** Whether Oracle may take it back. */
  spot: boolean;
  /** Whether the platform has asked for its end. */
  ended: boolean;
  createdAt: Date | null;
}

/** In the extended metadata of a preemptible machine: whoever ends it says so, for Oracle Cloud does not say who did. */
export const ENDED = { platform: 'ended' };

/** The machine in an answer; null for one that is no installation's. */
export function machineIn(instance: models.Instance): OciMachine | null {
  const { id, freeformTags, lifecycleState, preemptibleInstanceConfig, extendedMetadata, timeCreated } = instance;
  const owner = ownerOf(textTags(freeformTags));
  if (owner === null || !isOcid(id)) return null;
  const { attempt, ...labels } = owner;
  const [ended] = [(extendedMetadata as Record<string, unknown> | undefined | null)?.['platform']];
  return {
    id,
    labels,
    attempt,
    lifecycle: textOf(lifecycleState) ?? '',
    spot: typeof preemptibleInstanceConfig === 'object' && preemptibleInstanceConfig !== null,
    ended: ended === ENDED.platform,
    createdAt: dateIn(timeCreated),
  };
}

function textTags(tags: unknown): Record<string, string> {
  if (typeof tags !== 'object' || tags === null) return {};
  return Object.fromEntries(
    Object.entries(tags).filter((entry): entry is [string, string] => textOf(entry[1]) !== null),
  );
}

/** The SDK's types promise a date, and it gives the text that was sent. */
export function dateIn(value: unknown): Date | null {
  if (typeof value !== 'string' && !(value instanceof Date)) return null;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Whether it exists no more: it is listed for some time after its end. */
export function isOver({ lifecycle }: OciMachine): boolean {
  return lifecycle === 'TERMINATED';
}

const STATES: Readonly<Record<string, ProviderNodeState>> = {
  PROVISIONING: 'pending',
  STARTING: 'pending',
  // Oracle Cloud moves it to another host, where it starts again.
  MOVING: 'pending',
  CREATING_IMAGE: 'running',
  RUNNING: 'running',
  STOPPING: 'stopping',
  STOPPED: 'stopped',
  TERMINATING: 'stopping',
};

/** A preemptible machine that ended without the platform's doing was taken back: nothing else ends it, but its owner. */
export function stateOf(machine: OciMachine): ProviderNodeState {
  if (isOver(machine)) return machine.spot && !machine.ended ? 'interrupted' : 'gone';
  return STATES[machine.lifecycle] ?? 'pending';
}

export function shown(
  machine: OciMachine,
  addresses: { privateIp: string | null; publicIp: string | null } = { privateIp: null, publicIp: null },
): ProviderNode {
  const state = stateOf(machine);
  const { labels, id, createdAt } = machine;
  const fault = state === 'interrupted' ? takenBack() : null;
  return { labels, providerRef: id, state, createdAt, fault, ...addresses };
}

export function takenBack(): ComputeDriverError {
  return new ComputeDriverError('Preempted', 'Oracle Cloud has taken the preemptible machine back.', {
    kind: 'capacity',
    scope: 'zone',
  });
}
