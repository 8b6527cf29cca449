import { foreignSqlArgument } from './sql-arguments';

describe('foreignSqlArgument', () => {
  it.each(['', '-S', '--hivevar a=1 --hivevar b=--x -d c=2', '--database db --silent --hiveconf k=v'])(
    'takes %p',
    (line) => {
      expect(foreignSqlArgument(line.split(' ').filter(Boolean))).toBeNull();
    },
  );

  it.each([
    ['--master local[7]', '--master'],
    ['--hivevar a=1 --conf spark.a=1', '--conf'],
    ['--hivevar --conf spark.a=1', '--hivevar'],
    ['--hivevar', '--hivevar'],
    ['--hivevar=a', '--hivevar=a'],
    ['-f other.sql', '-f'],
    ['-S word', 'word'],
  ])('does not take %p', (line, word) => {
    expect(foreignSqlArgument(line.split(' '))).toBe(word);
  });
});
