import { decodeAnswer, encodeCall } from './call-message';

describe('messages of calls', () => {
  it('are a line of JSON before the bytes of a body', () => {
    const payload = encodeCall({ op: 'call', id: 'a-1', timeout_ms: 5 }, Buffer.from('{"n":1}\n'));
    expect(payload.toString()).toBe('{"op":"call","id":"a-1","timeout_ms":5}\n{"n":1}\n');
    const answer = Buffer.concat([
      Buffer.from('{"op":"answer","id":"a-1","outcome":"ok"}\n'),
      Buffer.from([0, 10, 255]),
    ]);
    expect(decodeAnswer(answer)).toEqual({
      header: { op: 'answer', id: 'a-1', outcome: 'ok', more: false },
      body: Buffer.from([0, 10, 255]),
    });
    const part = '{"op":"answer","id":"a-1","outcome":"ok","more":true}\nx';
    expect(decodeAnswer(Buffer.from(part))?.header).toMatchObject({ more: true });
    const last = '{"op":"answer","id":"a-1","outcome":"ok","final":true}\n';
    expect(decodeAnswer(Buffer.from(last))?.header).toEqual({
      op: 'answer',
      id: 'a-1',
      outcome: 'ok',
      more: false,
      final: true,
    });
    expect(decodeAnswer(Buffer.from('{"op":"ready"}\n'))?.header).toEqual({ op: 'ready' });
  });

  it.each([
    ['nothing', ''],
    ['no line break', '{"op":"ready"}'],
    ['no JSON', 'ready\n'],
    ['no object', 'null\n'],
    ['an unknown outcome', '{"op":"answer","id":"a","outcome":"fine"}\n'],
    ['a malformed id', '{"op":"answer","id":"a b","outcome":"ok"}\n'],
    ['a header without end', `{"op":"ready","more":"${'x'.repeat(2000)}"}\n`],
  ])('are null if they are malformed: %s', (_, text) => {
    expect(decodeAnswer(Buffer.from(text))).toBeNull();
  });
});
