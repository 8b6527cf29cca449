import { ComputeDriverError } from '../compute-driver';

/** How long what is under way at a provider usually takes at least, milliseconds. */
const BUSY_RETRY_MS = 5_000;

/** A node has one machine at a time: whoever asks for another attempt waits until that of the one before is gone. */
export function otherAttempt(attempt: number | null): ComputeDriverError {
  const message = `The machine of ${attempt === null ? 'another attempt' : `attempt ${attempt}`} is not gone yet.`;
  return new ComputeDriverError('OtherAttempt', message, { kind: 'transient', retryAfterMs: BUSY_RETRY_MS });
}

export function stillStopping(): ComputeDriverError {
  const message = 'The machine is still stopping.';
  return new ComputeDriverError('StillStopping', message, { kind: 'transient', retryAfterMs: BUSY_RETRY_MS });
}

/** @param title what people call the provider */
export function machineGone(title: string): ComputeDriverError {
  return new ComputeDriverError('MachineGone', `${title} has no machine of this node to start.`, { kind: 'invalid' });
}

/** Something has the name or the token of a node, and the labels of another owner. */
export function foreignMachine(title: string, id: string): ComputeDriverError {
  const message = `${title} has a machine ${id} already, whose labels name another owner than this node.`;
  return new ComputeDriverError('ForeignMachine', message, { kind: 'invalid' });
}
