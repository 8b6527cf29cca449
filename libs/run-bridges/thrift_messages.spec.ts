import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSession,
  executeStatement,
  fetchResults,
  hiveCall,
  openedSession,
  openSession,
  operationStatus,
} from '../../test/harness/hive-messages';

const ada = { guid: Buffer.from('session of ada, '), secret: Buffer.alloc(16, 1) };

/** Prints the call of each message, or why it is refused. */
const ASKED = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_messages import ForeignMessage, UnknownCall, asked
said = []
for text in json.load(sys.stdin):
    try:
        name, handle = asked(bytes.fromhex(text))
        said.append([name, handle and handle.decode("latin-1")])
    except ForeignMessage as error:
        said.append(str(error))
    except UnknownCall as error:
        said.append(error.answer.hex())
print(json.dumps(said))
`;

/** Prints the response for a failure of each call. */
const FAILURES = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_messages import failure
print(json.dumps([failure(name, bytes([0, 0, 0, 7]), text, "08003").hex() for name, text in json.load(sys.stdin)]))
`;

/** Prints messages that open sessions without their database, and the database. */
const DATABASES = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_messages import asked, without_database
said = []
for text in json.load(sys.stdin):
    message, database = without_database(bytes.fromhex(text))
    said.append([message.hex(), database])
    asked(message)
print(json.dumps(said))
`;

/** Prints responses that open sessions, with a fetch size. */
const FETCH_SIZES = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_messages import opened, session_in, with_fetch_size
said = []
for text in json.load(sys.stdin):
    answer = with_fetch_size(bytes.fromhex(text))
    said.append([answer.hex(), opened("OpenSession", answer).decode(), session_in(answer)[1].hex()])
print(json.dumps(said))
`;

/** Prints whether the responses to calls are final. */
const FINAL = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_messages import is_final
print(json.dumps([is_final(name, bytes.fromhex(text)) for name, text in json.load(sys.stdin)]))
`;

/** Each step is a user, `add`, `use` or `drop`, and a handle. Prints the results of `use`. */
const HANDLES = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_bridge import Handles
handles = Handles()
said = []
for user, step, handle in json.load(sys.stdin):
    if step == "add":
        handles.add(handle, user)
    elif step == "drop":
        handles.drop(handle)
    else:
        said.append(handles.use(handle, user))
print(json.dumps(said + [handles.sessions_of("ada")]))
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;
const python = (program: string, input: unknown): unknown =>
  JSON.parse(execFileSync('python3', ['-c', program, __dirname], { input: JSON.stringify(input), encoding: 'utf8' }));

// The programs of the bridge are real. Spark's Thrift server is left out.
(hasPython ? describe : describe.skip)('messages of clients of SQL', () => {
  const asked = (...messages: Buffer[]) =>
    python(
      ASKED,
      messages.map((message) => message.toString('hex')),
    );
  const field = (id: number, type: number, ...bytes: number[]): [number, number, Buffer] => [
    id,
    type,
    Buffer.from(bytes),
  ];

  it('have a call, and a session or operation', () => {
    expect(asked(openSession(), executeStatement(ada, 'select 1'), fetchResults(ada), closeSession(ada))).toEqual([
      ['OpenSession', null],
      ['ExecuteStatement', 'session of ada, '],
      ['FetchResults', 'session of ada, '],
      ['CloseSession', 'session of ada, '],
    ]);
  });

  it('are refused if another reader could interpret them differently', () => {
    const whole = executeStatement(ada, 'select 1');
    const twice = Buffer.concat([whole, whole]);
    const other = Buffer.from(whole);
    other[3] = 4;
    const nested = Buffer.alloc(200, Buffer.from([12, 0, 1]));
    expect(
      asked(
        Buffer.alloc(0),
        Buffer.from('GET / HTTP/1.1\r\n'),
        whole.subarray(0, -1),
        twice,
        other,
        hiveCall('ExecuteStatement'),
        // A struct with a field twice, a text beyond the end, and endless lists.
        hiveCall('GetInfo', field(1, 2, 1), field(1, 2, 1)),
        hiveCall('GetInfo', field(1, 11, 0x7f, 255, 255, 255)),
        hiveCall('GetInfo', field(2, 15, 1, 0x7f, 255, 255, 255)),
        hiveCall('GetInfo', field(2, 15, 2, 255, 255, 255, 255)),
        hiveCall('GetInfo', field(2, 1)),
        hiveCall('GetInfo', [2, 12, nested]),
      ),
    ).toEqual([
      'The message is incomplete.',
      "It is not a message of Thrift's binary protocol.",
      'The message is incomplete.',
      'There is more than one message.',
      "It is not a message of Thrift's binary protocol.",
      'The call names no session or operation.',
      'A struct has a field twice.',
      'The message is incomplete.',
      'The message has too many values.',
      'The message has too many values.',
      'The message has a value of an unknown kind.',
      'The message has too many values.',
    ]);
  });

  it('receive an error in Thrift for an unknown call', () => {
    const [answer] = asked(hiveCall('Shutdown', [1, 12, Buffer.from([0])])) as [string];
    const bytes = Buffer.from(answer, 'hex');
    const text = "The server has no call 'Shutdown' for clients.";
    expect([...bytes.subarray(0, 4)]).toEqual([0x80, 1, 0, 3]);
    expect(bytes.toString('latin1')).toContain(
      `Shutdown\0\0\0\x01\x0b\0\x01\0\0\0${String.fromCharCode(text.length)}${text}`,
    );
    expect([...bytes.subarray(-8)]).toEqual([8, 0, 2, 0, 0, 0, 1, 0]);
  });

  it('receive a complete Thrift response when they fail', () => {
    const calls = ['FetchResults', 'OpenSession', 'GetInfo', 'GetQueryId'];
    const asLatin1 = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
    const answers = python(
      FAILURES,
      calls.map((name) => [name, 'no \u00fc']),
    ) as string[];
    const status = `\x0c\0\x01\x08\0\x01\0\0\0\x03\x0b\0\x03\0\0\0\x0508003\x0b\0\x05\0\0\0\x05no \u00c3\u00bc\0`;
    const reply = (name: string) => `\x80\x01\0\x02\0\0\0${String.fromCharCode(name.length)}${name}\0\0\0\x07\x0c\0\0`;
    expect(answers.map(asLatin1)).toEqual([
      `${reply('FetchResults')}${status}\0\0`,
      `${reply('OpenSession')}${status}\x08\0\x02\0\0\0\x09\0\0`,
      `${reply('GetInfo')}${status}\x0c\0\x02\x0b\0\x01\0\0\0\0\0\0\0`,
      expect.stringContaining('\x80\x01\0\x03\0\0\0\x0aGetQueryId\0\0\0\x07\x0b\0\x01\0\0\0\x05no '),
    ]);
    const [long] = python(FAILURES, [['FetchResults', 'x'.repeat(100_000)]]) as [string];
    expect(long.length).toBeLessThan(5_000);
  });

  it('that open sessions are split into database and rest', () => {
    const other = ['set:hiveconf:a', 'b'] as const;
    const messages = [
      openSession('ada'),
      openSession('ada', [other]),
      openSession('ada', [['use:database', 'one'], other, ['use:database', 'zw\u00f6lf']]),
    ];
    const hex = (message: Buffer) => message.toString('hex');
    expect(python(DATABASES, messages.map(hex))).toEqual([
      [hex(openSession('ada')), null],
      [hex(openSession('ada', [other])), null],
      [hex(openSession('ada', [other])), 'zw\u00f6lf'],
    ]);
  });

  it('that open sessions receive a fetch size if the server names none', () => {
    const size = ['hive.server2.thrift.resultset.default.fetch.size', '1000'] as const;
    const other = ['a', 'b'] as const;
    const own = ['hive.server2.thrift.resultset.default.fetch.size', '7'] as const;
    const answers = [undefined, [], [other], [own]].map((entries) => openedSession(ada, entries).toString('hex'));
    const secret = ada.secret.toString('hex');
    const wanted = [[size], [size], [size, other], [own]].map((entries) => openedSession(ada, entries).toString('hex'));
    expect(python(FETCH_SIZES, answers)).toEqual(wanted.map((answer) => [answer, 'session of ada, ', secret]));
  });

  it('receive a final response once their statement has finished', () => {
    const finished = operationStatus(2);
    const answers: [string, Buffer, boolean][] = [
      ['GetOperationStatus', finished, true],
      ['FetchResults', finished, false],
      ['GetOperationStatus', operationStatus(1), false],
      ['GetOperationStatus', operationStatus(5), false],
      ['GetOperationStatus', operationStatus(), false],
      ['GetOperationStatus', finished.subarray(0, -2), false],
      ['GetOperationStatus', Buffer.alloc(0), false],
    ];
    const responses = answers.map(([name, answer]) => [name, answer.toString('hex')]);
    expect(python(FINAL, responses)).toEqual(answers.map(([, , isFinal]) => isFinal));
  });

  it('can only use sessions of their senders', () => {
    const steps = [
      ['bob', 'use', 's'],
      ['ada', 'add', 's'],
      ['bob', 'use', 's'],
      ['ada', 'use', 's'],
      ['ada', 'drop', 's'],
      ['ada', 'use', 's'],
      ['ada', 'add', 't'],
    ];
    expect(python(HANDLES, steps)).toEqual([false, false, true, false, 1]);
  });
});
