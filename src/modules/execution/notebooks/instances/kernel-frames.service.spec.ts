import { exactJson } from '../../../../../libs/json/exact-json';
import { type OpaqueTextBounds, readOpaque } from '../../../../../libs/json/opaque-json';
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
  const json = { readOpaque: (_: string, bytes: Buffer, bounds: OpaqueTextBounds) => readOpaque(bytes, bounds) };
  const service = new KernelFramesService(kernels as never, outputs as never, json as never);
  await service.consume({} as never, RUN, await service.read('t', payloads));
  return calls;
}

describe('frames of kernels', () => {
  it('are made replies of before the transaction', async () => {
    const replies: unknown[] = [];
    const kernels = {
      note: (_tx: unknown, _run: unknown, news: { replies: unknown[] }) =>
        Promise.resolve(replies.push(...news.replies)),
    };
    const json = { readOpaque: (_: string, bytes: Buffer, bounds: OpaqueTextBounds) => readOpaque(bytes, bounds) };
    const service = new KernelFramesService(kernels as never, undefined as never, json as never);
    const reply = said('execute_reply', { status: 'ok' });
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

  it('pass the data of an output on as it was written', async () => {
    const message = (data: string) =>
      `{"op":"message","generation":1,"message":{"msg_type":"display_data","parent_header":{"msg_id":"cell"},"content":{"data":${data}}}}`;
    const calls = await done(
      message(`{"application/json":{"a":[1.0,{"b":9007199254740993}]},"text/plain":["a\\n","b"],"text/html":1.0}`),
      message(`{"application/json":[${'1.5,'.repeat(600_000)}1.0]}`),
      message(`{"application/json":[}`),
    );
    const outputs = calls.flatMap(([, given]) => (given as object[]).map((output) => exactJson(output)));
    expect(outputs[0]).toBe(
      '{"output_type":"display_data","data":{"application/json":{"a":[1.0,{"b":9007199254740993}]},"text/plain":"a\\nb"},"metadata":{}}',
    );
    expect(outputs[1]).toContain(`[${'1.5,'.repeat(600_000)}1.0]`);
    expect(outputs).toHaveLength(2);
  });
});
