import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import {
  executeStatement,
  fetchResults,
  getOperationStatus,
  openSession,
} from '../../../../../test/harness/hive-messages';
import { parseRepeated, writeSequence } from './hive-message';

const BRIDGES = join(__dirname, '..', '..', '..', '..', '..', 'libs', 'run-bridges');
const KEYS = `
import json, sys
sys.path.insert(0, sys.argv[1])
from thrift_prefetch import key_of
print(json.dumps([key_of(user, bytes.fromhex(message)) for user, message in json.load(sys.stdin)]))
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;
const SEQUENCE_AT = 20;

describe('messages that clients repeat', () => {
  const operation = { guid: Buffer.alloc(16, 1), secret: Buffer.alloc(16, 2) };
  const again = fetchResults(operation, 100);
  again.writeInt32BE(77, SEQUENCE_AT);
  const messages = [fetchResults(operation, 100), fetchResults(operation, 200), again];
  const fetches = messages.flatMap((message) => ['ada', 'bob\u00e9'].map((user) => ({ message, user })));

  it('have a key per user and call, independent of the sequence number', () => {
    const keys = fetches.map(({ message, user }) => parseRepeated(message, user)?.key);
    expect(new Set(keys).size).toBe(4);
    expect(keys.slice(4)).toEqual(keys.slice(0, 2));
    expect(parseRepeated(again, 'ada')?.sequence.readInt32BE()).toBe(77);
    const status = parseRepeated(getOperationStatus(operation), 'ada');
    expect(status).toMatchObject({ name: 'GetOperationStatus', sequence: Buffer.from([0, 0, 0, 1]) });
    expect(status?.key).not.toBe(parseRepeated(getOperationStatus(operation), 'eve')?.key);
  });

  (hasPython ? it : it.skip)('have the same keys as in the bridge', () => {
    const input = JSON.stringify(fetches.map(({ message, user }) => [user, message.toString('hex')]));
    const keys: unknown = JSON.parse(execFileSync('python3', ['-c', KEYS, BRIDGES], { input, encoding: 'utf8' }));
    expect(keys).toEqual(fetches.map(({ message, user }) => parseRepeated(message, user)?.key));
  });

  it('are distinguished from other messages', () => {
    const long = Buffer.from(messages[0] ?? '');
    long.writeUInt32BE(13, 4);
    const others = [
      openSession(),
      executeStatement(operation, 'FetchResults'),
      Buffer.alloc(0),
      again.subarray(0, 23),
      long,
    ];
    expect(others.map((message) => parseRepeated(message, 'ada'))).toEqual(others.map(() => null));
    const call = { name: 'FetchResults', key: '', sequence: Buffer.alloc(4, 1) } as const;
    const answer = openSession();
    writeSequence(answer, call);
    expect(answer).toEqual(openSession());
    const numbered = Buffer.from(messages[0] ?? '');
    writeSequence(numbered, call);
    expect(parseRepeated(numbered, 'ada')?.sequence).toEqual(call.sequence);
  });
});
