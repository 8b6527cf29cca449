import type { models } from 'oci-core';
import { ownerOf } from '../cloud-driver';
import { ComputeDriverError } from '../compute-driver';
import { dateOf } from '../machines/response-values';
import type { Machine, MachinePhase } from '../machines/cloud-port';
import { isOcid, textOf } from './oci-connection';

export interface OciMachine extends Machine {
  /** Oracle's lifecycle state. */
  lifecycle: string;
  /** True if the platform has requested the termination. */
  isEndedByPlatform: boolean;
}

/** Extended metadata of a preemptible machine that the platform terminates. Oracle Cloud does not report who ended a machine. */
export const ENDED_BY_PLATFORM = { platform: 'ended' };

const PHASES: Readonly<Record<string, MachinePhase>> = {
  PROVISIONING: 'starting',
  STARTING: 'starting',
  // Oracle Cloud moves the machine to another host, where it starts again.
  MOVING: 'starting',
  CREATING_IMAGE: 'running',
  RUNNING: 'running',
  STOPPING: 'stopping',
  STOPPED: 'off',
  TERMINATING: 'ending',
  TERMINATED: 'over',
};

/** Reads a machine from a response; null if it belongs to no node or has no valid id. */
export function machineIn(instance: models.Instance): OciMachine | null {
  const { id, freeformTags, lifecycleState, preemptibleInstanceConfig, extendedMetadata, timeCreated } = instance;
  const owner = ownerOf(textTags(freeformTags));
  if (owner === null || !isOcid(id)) return null;
  const lifecycle = textOf(lifecycleState) ?? '';
  const phase = PHASES[lifecycle] ?? 'starting';
  const isSpot = typeof preemptibleInstanceConfig === 'object' && preemptibleInstanceConfig !== null;
  const note = (extendedMetadata as Record<string, unknown> | undefined | null)?.['platform'];
  const isEndedByPlatform = note === ENDED_BY_PLATFORM.platform;
  // Nothing but a preemption or a user ends a preemptible machine that the platform did not terminate.
  const isPreempted = phase === 'over' && isSpot && !isEndedByPlatform;
  return {
    ...{ id, owner, lifecycle, phase, isSpot, isEndedByPlatform, createdAt: dateOf(timeCreated) },
    ...{ end: isPreempted ? 'interrupted' : null, fault: isPreempted ? preemption() : null },
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
  return new ComputeDriverError('Preempted', 'Oracle Cloud took back the preemptible machine of this node.', {
    kind: 'capacity',
    scope: 'zone',
  });
}
