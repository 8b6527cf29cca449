import type { models } from 'oci-core';
import { ownerOf } from '../cloud-driver';
import { ComputeDriverError } from '../compute-driver';
import { dateOf } from '../machines/response-values';
import type { Machine, MachinePhase } from '../machines/cloud-port';
import { isOcid, textOf } from './oci-connection';

export interface OciMachine extends Machine {
  /** Oracle's lifecycle state. */
  lifecycle: string;
  /** Whether the platform has asked for its end. */
  isEndedByPlatform: boolean;
}

/** In the extended metadata of a preemptible machine: whoever ends it says so, for Oracle Cloud does not say who did. */
export const ENDED_BY_PLATFORM = { platform: 'ended' };

const PHASES: Readonly<Record<string, MachinePhase>> = {
  PROVISIONING: 'starting',
  STARTING: 'starting',
  // Oracle Cloud moves it to another host, where it starts again.
  MOVING: 'starting',
  CREATING_IMAGE: 'running',
  RUNNING: 'running',
  STOPPING: 'stopping',
  STOPPED: 'off',
  TERMINATING: 'ending',
  TERMINATED: 'over',
};

/** The machine in an answer; null for one that is no installation's. */
export function machineIn(instance: models.Instance): OciMachine | null {
  const { id, freeformTags, lifecycleState, preemptibleInstanceConfig, extendedMetadata, timeCreated } = instance;
  const owner = ownerOf(textTags(freeformTags));
  if (owner === null || !isOcid(id)) return null;
  const lifecycle = textOf(lifecycleState) ?? '';
  const phase = PHASES[lifecycle] ?? 'starting';
  const isSpot = typeof preemptibleInstanceConfig === 'object' && preemptibleInstanceConfig !== null;
  const note = (extendedMetadata as Record<string, unknown> | undefined | null)?.['platform'];
  const isEndedByPlatform = note === ENDED_BY_PLATFORM.platform;
  // A preemptible machine that ended without the platform's doing was taken back: nothing else ends it, but its owner.
  const isTaken = phase === 'over' && isSpot && !isEndedByPlatform;
  return {
    ...{ id, owner, lifecycle, phase, isSpot, isEndedByPlatform, createdAt: dateOf(timeCreated) },
    ...{ end: isTaken ? 'interrupted' : null, fault: isTaken ? preemption() : null },
    ...{ privateIp: null, publicIp: null },
  };
}

function textTags(tags: unknown): Record<string, string> {
  if (typeof tags !== 'object' || tags === null) return {};
  return Object.fromEntries(
    Object.entries(tags).filter((entry): entry is [string, string] => textOf(entry[1]) !== null),
  );
}

function preemption(): ComputeDriverError {
  return new ComputeDriverError('Preempted', 'Oracle Cloud has taken the preemptible machine back.', {
    kind: 'capacity',
    scope: 'zone',
  });
}
