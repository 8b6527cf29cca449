import { execFileSync, spawnSync } from 'node:child_process';
import { executeStatement, fetchResults, openedSession, openSession } from '../../test/harness/hive-messages';

/** Sends messages of ada to a fake server with given responses, and prints the result of each. */
const CALLS = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_bridge import Calls
from thrift_messages import ForeignMessage

class Server:
    def __init__(self):
        self.did = []

    def answer(self, user, message):
        self.did.append("answers " + message[8 : 8 + message[7]].decode())
        if answers[0] is None:
            answers.pop(0)
            raise RuntimeError("An error occurred while calling o7.process.\\n: java.lang.OutOfMemoryError: Java heap space\\n\\tat x")
        return bytes.fromhex(answers.pop(0))

    def use(self, guid, secret, database):
        self.did.append("uses %s in %s" % (database, guid.decode()))
        if database == "nope":
            raise RuntimeError("[SCHEMA_NOT_FOUND] The schema is not there.\\nVerify it.")

class Channel:
    def send(self, *payloads):
        pass

messages, answers = json.load(sys.stdin)
server = Server()
calls = Calls(Channel(), server, None, None)
said = []
for message in messages:
    try:
        given = calls.relayed("ada", bytes.fromhex(message))
        said.append(given.body.hex())
    except ForeignMessage as error:
        said.append("foreign")
print("\\n" + json.dumps({"said": said, "did": server.did}))
`;

/** Watches a fake Spark. The end of the process is that of the run. */
const WATCH = `
import sys, threading
sys.path.insert(0, sys.argv[1])
import thrift_bridge
thrift_bridge.HEALTH_CHECK = 0.01

class Spark:
    def __init__(self):
        self.looks = 0
        self._gateway = self._jsc = self.proc = self

    def sc(self):
        return self

    def isStopped(self):
        self.looks += 1
        if sys.argv[2] == "ended":
            ending.set()
            return True
        if sys.argv[2] == "gone":
            raise ConnectionError("Answer from Java side is empty")
        return sys.argv[2] == "stopped" and self.looks > 2

    def poll(self):
        return int(sys.argv[3]) if self.looks > 2 and sys.argv[2] == "gone" else None

ending = threading.Event()
thrift_bridge.watch(Spark(), ending)
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;

// The program of the bridge is real. Spark is left out.
(hasPython ? describe : describe.skip)('the bridge to the server of SQL', () => {
  const ada = { guid: Buffer.from('session of ada, '), secret: Buffer.alloc(16, 1) };
  const calls = (messages: Buffer[], answers: (Buffer | null)[]) => {
    const input = JSON.stringify([
      messages.map((one) => one.toString('hex')),
      answers.map((one) => one && one.toString('hex')),
    ]);
    const output = execFileSync('python3', ['-c', CALLS, __dirname], {
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const { said, did } = JSON.parse(output.slice(output.lastIndexOf('\n{'))) as { said: string[]; did: string[] };
    return { did, said: said.map((text) => (text === 'foreign' ? text : Buffer.from(text, 'hex').toString('latin1'))) };
  };
  const watch = (...words: string[]) => {
    const { status, stderr } = spawnSync('python3', ['-c', WATCH, __dirname, ...words], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    return [status, stderr.trim()];
  };

  it('responds in Thrift if a call is refused, and fails only for an invalid message', () => {
    const { said, did } = calls(
      [executeStatement(ada, 'select 1'), openSession(), fetchResults(ada, 10), Buffer.from('GET / HTTP/1.1')],
      [openedSession(ada), null, null],
    );
    expect(did).toEqual(['answers OpenSession', 'answers FetchResults', 'answers FetchResults']);
    expect(said).toEqual([
      expect.stringMatching(/ExecuteStatement[^]*08003[^]*The session or operation is not one of ada, or is closed\./),
      expect.stringContaining('session of ada, '),
      expect.stringMatching(
        /FetchResults[^]*HY000[^]*The call failed: java\.lang\.OutOfMemoryError: Java heap space\0/,
      ),
      'foreign',
    ]);
  });

  it('selects the database of a session once it is open', () => {
    const begin = (name: string) =>
      calls(
        [openSession('x', [['use:database', name]]), executeStatement(ada, 'select 1')],
        [openedSession(ada), openedSession(ada)],
      );
    const good = begin('sales');
    expect(good.did).toEqual(['answers OpenSession', 'uses sales in session of ada, ', 'answers ExecuteStatement']);
    expect(good.said[0]).toContain('session of ada, ');
    const bad = begin('nope');
    expect(bad.did).toEqual(['answers OpenSession', 'uses nope in session of ada, ']);
    expect(bad.said[0]).toMatch(
      /08004[^]*cannot start with the database nope: \[SCHEMA_NOT_FOUND\] The schema is not there\.\0/,
    );
    expect(bad.said[0]).not.toContain('session of ada, ');
  });

  it('ends with the Spark that it serves, and reports the reason', () => {
    expect(watch('stopped')).toEqual([1, 'SQL cannot be served: the SparkContext has stopped. The log says why.']);
    expect(watch('gone', '-9')).toEqual([
      1,
      'SQL cannot be served: the JVM of Spark has ended by signal 9. The machine may have run out of memory.',
    ]);
    expect(watch('ended')).toEqual([0, '']);
    expect(watch('gone', '52')).toEqual([1, 'SQL cannot be served: the JVM of Spark has ended with exit code 52.']);
  });
});
