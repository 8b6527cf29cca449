import { readOpaque } from '../../../../../libs/json/opaque-json';
import { FRAME_JSON, kernelFrame, keptReply, readClientMessage, repliesTo } from './kernel-messages';

const readKernelFrame = (payload: Buffer) => kernelFrame(readOpaque(payload, FRAME_JSON));

const message = (fields: object) =>
  JSON.stringify({ header: { msg_id: 'cell', msg_type: 'execute_request' }, ...fields });

describe('messages of clients', () => {
  it('have type and id in the header or beside it', () => {
    const expected = { msgId: 'cell', type: 'execute_request', message: { channel: 'shell', content: { code: '1' } } };
    expect(readClientMessage(message({ content: { code: '1' } }))).toMatchObject(expected);
    const beside = { msg_id: 'cell', msg_type: 'execute_request', content: { code: '1' } };
    expect(readClientMessage(JSON.stringify(beside))).toMatchObject(expected);
  });

  it('lose the byte order mark of their code', () => {
    expect(readClientMessage(message({ content: { code: '\uFEFF1' } }))?.message.content).toMatchObject({ code: '1' });
  });

  it('never allow stdin', () => {
    const request = readClientMessage(message({ content: { code: '1', allow_stdin: true, silent: 'yes' } }));
    expect(request?.message.content).toEqual({
      code: '1',
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: false,
      stop_on_error: true,
    });
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['no id', '{"header":{"msg_type":"execute_request"}}'],
    ['an id with a space', '{"msg_id":"a b","msg_type":"execute_request","content":{"code":""}}'],
    ['no code', message({ content: {} })],
  ])('are refused: %s', (_, text) => {
    expect(() => readClientMessage(text)).toThrow(expect.objectContaining({ code: 'KERNEL.MALFORMED_MESSAGE' }));
  });

  it.each(['shutdown_request', 'toString', '__proto__'])('of the type %s are ignored', (type) => {
    expect(readClientMessage(JSON.stringify({ msg_id: 'a', msg_type: type }))).toBeNull();
  });
});

describe('frames of kernels', () => {
  const read = (frame: unknown) => readKernelFrame(Buffer.from(JSON.stringify(frame)));

  it('contain a state or a message', () => {
    const state = { op: 'kernel', generation: 2, state: 'dead', reason: 'killed' };
    expect(read(state)).toEqual(state);
    const message = { msg_type: 'stream', parent_header: { msg_id: 'cell' }, content: { text: 'a' } };
    expect(read({ op: 'message', generation: 1, message: message })).toEqual({
      op: 'message',
      generation: 1,
      message: message,
      type: 'stream',
      parentId: 'cell',
    });
  });

  it('have no parent if its id is invalid', () => {
    const parentIdOf = (msg_id: unknown) => {
      const frame = read({ op: 'message', generation: 1, message: { msg_type: 'stream', parent_header: { msg_id } } });
      return frame?.op === 'message' ? frame.parentId : 'none';
    };
    expect(['cell:2', 'a\0', '', 'x'.repeat(129), 1].map(parentIdOf)).toEqual(['cell:2', null, null, null, null]);
  });

  it('are null if no bridge would write them', () => {
    const others = [null, 1, [], {}, { op: 'kernel', generation: 1, state: 'gone' }, { op: 'message', generation: 0 }];
    expect(others.map(read)).toEqual(others.map(() => null));
    expect(readKernelFrame(Buffer.from([0xff]))).toBeNull();
  });

  it('keep only replies that the database can store', () => {
    expect(keptReply({ content: { status: 'ok', evalue: 'a\0b' } })).toEqual({ status: 'ok', evalue: 'ab' });
    expect(keptReply({ content: { text: 'x'.repeat(70_000) } })).toBeNull();
    const halves = { evalue: 'a\ud800b😀', name: String.raw`\u0000 \ud800 \\`, '\udfff': '\0' };
    expect(keptReply({ content: halves })).toEqual({
      ...halves,
      evalue: 'a\ufffdb😀',
      '\udfff': undefined,
      '\ufffd': '',
    });
  });
});

it('repliesTo returns a reply and the idle status after it', () => {
  const [reply, status] = repliesTo('cell', { status: 'aborted' }).map((text) => JSON.parse(text) as object);
  expect(reply).toMatchObject({ msg_type: 'execute_reply', parent_header: { msg_id: 'cell' }, channel: 'shell' });
  expect(status).toMatchObject({ msg_type: 'status', content: { execution_state: 'idle' }, channel: 'iopub' });
});
