import { KernelFramesService } from './kernel-frames.service';

const RUN = { run_id: 1, tenant_id: 't', workspace_id: 2, job_conf_id: 3, cluster_id: 4 };
const said = (msg_type: string, content: object) => ({
  op: 'message',
  generation: 1,
  message: { header: { msg_type }, msg_type, parent_header: { msg_id: 'cell' }, content },
});

/** What becomes of the outputs of the cell, in order. */
async function done(...frames: (object | string)[]): Promise<unknown[][]> {
  const calls: unknown[][] = [];
  const noted =
    (name: string) =>
    (_tx: unknown, _at: unknown, ...rest: unknown[]) => {
      calls.push([name, ...rest]);
      return Promise.resolve(true);
    };
  const kernels = { note: () => Promise.resolve(), asked: () => Promise.resolve(new Set(['cell'])) };
  const outputs = {
    cells: () => Promise.resolve(new Map([['cell', 'code']])),
    begin: noted('begin'),
    executionCount: noted('executionCount'),
    clear: noted('clear'),
    append: noted('append'),
  };
  const payloads = frames.map((frame, at) => ({
    number: at + 1,
    payload: Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)),
  }));
  await new KernelFramesService(kernels as never, outputs as never).consume({} as never, RUN, payloads);
  return calls;
}

describe('frames of kernels', () => {
  it('clear the outputs of a cell at once, or when the next one comes', async () => {
    const text = { output_type: 'stream', name: 'stdout', text: 'a' };
    expect(
      await done(
        said('execute_input', { execution_count: 4 }),
        said('stream', { name: 'stdout', text: 'a' }),
        said('clear_output', { wait: true }),
        said('stream', { name: 'stdout', text: 'a' }),
        said('clear_output', { wait: false }),
        said('clear_output', {}),
      ),
    ).toEqual([
      ['begin'],
      ['executionCount', 4],
      ['append', [text]],
      ['clear', { waits: true }],
      ['append', [text]],
      ['clear', { waits: false }],
      ['clear', { waits: false }],
    ]);
  });
});
