import { ComputeDriverError } from '../compute-driver';

/** Pause while the provider is working on the machine, milliseconds. */
const BUSY_RETRY_MS = 5_000;

/** A node has one machine at a time, so a new attempt waits until the machine of the attempt before is gone. */
export function otherAttempt(attempt: number | null): ComputeDriverError {
  const owner = attempt === null ? 'another attempt' : `attempt ${attempt}`;
  const message = `The machine of ${owner} still exists. The new machine is created once it is gone.`;
  return new ComputeDriverError('OtherAttempt', message, { kind: 'transient', retryAfterMs: BUSY_RETRY_MS });
}

export function stillStopping(): ComputeDriverError {
  const message = 'The machine is still stopping. It can be started once it has stopped.';
  return new ComputeDriverError('StillStopping', message, { kind: 'transient', retryAfterMs: BUSY_RETRY_MS });
}

/** @param title name of the provider in messages */
export function machineGone(title: string): ComputeDriverError {
  return new ComputeDriverError(
    'MachineGone',
    `${title} no longer has the machine of this node, so it cannot be started.`,
    { kind: 'invalid' },
  );
}

/** A machine has the name or the token of a node, but the labels of another owner. */
export function foreignMachine(title: string, id: string): ComputeDriverError {
  const message = `${title} already has a machine ${id} with the name or labels of this node, but of another owner. Remove that machine, or change its name or labels.`;
  return new ComputeDriverError('ForeignMachine', message, { kind: 'invalid' });
}
