import { getOperationStatus, operationStatus } from '../../../../../test/harness/hive-messages';
import { FinalAnswers } from './final-answers';
import { parseRepeated } from './hive-message';

const ada = { tenantId: 'one', workspaceId: 1, jobId: 7, username: 'ada' };
const answer = { id: 'a', outcome: 'ok', body: operationStatus(2), isFinal: true } as const;

function callOf(user: string, operation = 1) {
  const call = parseRepeated(
    getOperationStatus({ guid: Buffer.alloc(16, operation), secret: Buffer.alloc(16, 2) }),
    user,
  );
  if (!call) throw new Error('no repeated call');
  return call;
}

describe('final answers', () => {
  it('are found by their caller alone, for 10 s', () => {
    let now = 1;
    const answers = new FinalAnswers(() => now);
    answers.add(ada, callOf('ada'), answer);
    expect(answers.find(ada, callOf('ada'))).toEqual(answer.body);
    expect(answers.find(ada, callOf('ada', 2))).toBeNull();
    for (const other of [{ tenantId: 'two' }, { workspaceId: 2 }, { jobId: 8 }, { username: 'eve' }]) {
      expect(answers.find({ ...ada, ...other }, callOf('ada'))).toBeNull();
    }
    now += 9_000;
    expect(answers.find(ada, callOf('ada'))).toEqual(answer.body);
    now += 2_000;
    expect(answers.find(ada, callOf('ada'))).toBeNull();
  });

  it('are forgotten together, of one caller', () => {
    const answers = new FinalAnswers();
    const eve = { ...ada, username: 'eve' };
    for (const operation of [1, 2]) answers.add(ada, callOf('ada', operation), answer);
    answers.add(eve, callOf('eve'), answer);
    answers.forget(ada);
    expect([1, 2].map((operation) => answers.find(ada, callOf('ada', operation)))).toEqual([null, null]);
    expect(answers.find(eve, callOf('eve'))).not.toBeNull();
  });

  it.each([
    ['that may change', { isFinal: false }],
    ['of a failure', { outcome: 'error' as const }],
    ['that are long', { body: Buffer.alloc(3_000) }],
  ])('are none %s', (_, fields) => {
    const answers = new FinalAnswers();
    answers.add(ada, callOf('ada'), { ...answer, ...fields });
    expect(answers.find(ada, callOf('ada'))).toBeNull();
  });
});
