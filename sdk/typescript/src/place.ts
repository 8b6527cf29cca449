import { getWorkspace } from './generated/operations.ts';
import { chosen, type Context, type Ref } from './host.ts';

/** A workspace by its id or its name; the id is requested once, when it is first needed. */
export class Place {
  readonly context: Context;
  readonly ref: Ref;
  #id: Promise<number> | undefined;

  constructor(context: Context, ref: Ref) {
    this.context = context;
    this.ref = ref;
    if (typeof ref === 'number') this.#id = Promise.resolve(ref);
  }

  id(): Promise<number> {
    if (this.#id === undefined) {
      const found = this.context.transport.call(getWorkspace, { query: chosen('workspace', this.ref) });
      const id = found.then(({ workspace_id }) => workspace_id);
      this.#id = id;
      id.catch(() => {
        if (this.#id === id) this.#id = undefined;
      });
    }
    return this.#id;
  }
}
