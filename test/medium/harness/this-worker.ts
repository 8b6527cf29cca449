import { ThisWorker } from '../../../src/platform/background/workers/this-worker';

/** A process that claims work as the worker with this id, whether or not it is registered. */
export function makeWorker(id: number): ThisWorker {
  const worker = new ThisWorker();
  worker.setId(id);
  return worker;
}
