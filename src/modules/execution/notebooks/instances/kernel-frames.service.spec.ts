import { exactJson } from '../../../../../libs/json/exact-json';
import { type OpaqueTextBounds, readOpaque } from '../../../../../libs/json/opaque-json';
import { KernelFramesService } from './kernel-frames.service';

const RUN = { run_id: 1, tenant_id: 't', workspace_id: 2, job_conf_id: 3, cluster_id: 4 };
const message = (msg_type: string, content: object) => ({
  op: 'message',
  generation: 1,
  message: { header: { msg_type }, msg_type, parent_header: { msg_id: 'cell' }, content },
});

/** Returns the calls that change the outputs of the cell, in order. */
async function outputCalls(...frames: (object | string)[]): Promise<unknown[][]> {
  const calls: unknown[][] = [];
  const record =
    (name: string) =>
    (_tx: unknown, _at: unknown, ...rest: unknown[]) => {
      calls.push([name, ...rest]);
      return Promise.resolve(true);
    };
  const kernels = { applyUpdate: () => Promise.resolve(), knownRequests: () => Promise.resolve(new Set(['cell'])) };
  const outputs = {
    cellTypes: () => Promise.resolve(new Map([['cell', 'code']])),
    startExecution: record('startExecution'),
    setExecutionCount: record('setExecutionCount'),
    clear: record('clear'),
    append: record('append'),
  };
  const payloads = frames.map((frame, at) => ({
    number: at + 1,
    payload: Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)),
  }));
  const json = { readOpaque: (_: string, bytes: Buffer, bounds: OpaqueTextBounds) => readOpaque(bytes, bounds) };
  const service = new KernelFramesService(kernels as never, outputs as never, json as never);
  await service.consume({} as never, RUN, await service.read('t', payloads));
  return calls;
}

describe('frames of kernels', () => {
  it('are converted to replies before the transaction', async () => {
    const replies: unknown[] = [];
    const kernels = {
      applyUpdate: (_tx: unknown, _run: unknown, update: { replies: unknown[] }) =>
        Promise.resolve(replies.push(...update.replies)),
    };
    const json = { readOpaque: (_: string, bytes: Buffer, bounds: OpaqueTextBounds) => readOpaque(bytes, bounds) };
    const service = new KernelFramesService(kernels as never, undefined as never, json as never);
    const reply = message('execute_reply', { status: 'ok' });
    const orphan = { ...reply, message: { ...reply.message, parent_header: {} } };
    const payloads = [reply, orphan].map((frame, at) => ({
      number: at + 1,
      payload: Buffer.from(JSON.stringify(frame)),
    }));
    const read = await service.read('t', payloads);
    const writes = jest.spyOn(JSON, 'stringify');
    await service.consume({} as never, RUN, read);
    const written = writes.mock.calls.length;
    writes.mockRestore();
    expect([replies, written]).toEqual([[{ msgId: 'cell', reply: { status: 'ok' } }], 0]);
  });

  it('clear the outputs of a cell immediately or when the next output arrives', async () => {
    const text = { output_type: 'stream', name: 'stdout', text: 'a' };
    expect(
      await outputCalls(
        message('execute_input', { execution_count: 4 }),
        message('stream', { name: 'stdout', text: 'a' }),
        message('clear_output', { wait: true }),
        message('stream', { name: 'stdout', text: 'a' }),
        message('clear_output', { wait: false }),
        message('clear_output', {}),
      ),
    ).toEqual([
      ['startExecution'],
      ['setExecutionCount', 4],
      ['append', [text]],
      ['clear', { waits: true }],
      ['append', [text]],
      ['clear', { waits: false }],
      ['clear', { waits: false }],
    ]);
  });

  it('pass on the data of an output unchanged', async () => {
    const display = (data: string) =>
      `{"op":"message","generation":1,"message":{"msg_type":"display_data","parent_header":{"msg_id":"cell"},"content":{"data":${data}}}}`;
    const calls = await outputCalls(
      display(`{"application/json":{"a":[1.0,{"b":9007199254740993}]},"text/plain":["a\\n","b"],"text/html":1.0}`),
      display(`{"application/json":[${'1.5,'.repeat(600_000)}1.0]}`),
      display(`{"application/json":[}`),
    );
    const outputs = calls.flatMap(([, outputs]) => (outputs as object[]).map((output) => exactJson(output)));
    expect(outputs[0]).toBe(
      '{"output_type":"display_data","data":{"application/json":{"a":[1.0,{"b":9007199254740993}]},"text/plain":"a\\nb"},"metadata":{}}',
    );
    expect(outputs[1]).toContain(`[${'1.5,'.repeat(600_000)}1.0]`);
    expect(outputs).toHaveLength(2);
  });
});
