import { offsetOf, readProblem } from './sql-error';

describe('readProblem', () => {
  it('reads a column that is not found', () => {
    const text =
      "org.apache.hive.service.cli.HiveSQLException: Error running query: [UNRESOLVED_COLUMN.WITH_SUGGESTION] org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `b` cannot be resolved. Did you mean one of the following? [`a`].; line 2 pos 7;\n'Project ['b]\n+- OneRowRelation\n";
    expect(readProblem(text, '42703')).toEqual({
      condition: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      sqlState: '42703',
      message:
        'A column or function parameter with name `b` cannot be resolved. Did you mean one of the following? [`a`].',
      whole: text,
      place: { line: 2, column: 8 },
    });
  });

  it('reads a syntax error', () => {
    const text =
      "Error running query: [PARSE_SYNTAX_ERROR] org.apache.spark.sql.catalyst.parser.ParseException: \n[PARSE_SYNTAX_ERROR] Syntax error at or near 'form'.(line 1, pos 9)\n\n== SQL ==\nselect * form t\n---------^^^\n";
    expect(readProblem(text, '')).toMatchObject({
      condition: 'PARSE_SYNTAX_ERROR',
      message: "Syntax error at or near 'form'.",
      place: { line: 1, column: 10 },
    });
  });

  it('reads the place of a failure while rows are computed, and keeps a message that has no parts', () => {
    const text =
      '[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nselect 1/0\n       ^^^\n';
    expect(readProblem(text, '')).toMatchObject({
      condition: 'DIVIDE_BY_ZERO',
      sqlState: '22012',
      message: 'Division by zero.',
      place: { line: 1, column: 8 },
    });
    expect(readProblem('The statement was cancelled.', '')).toEqual({
      condition: '',
      sqlState: '',
      message: 'The statement was cancelled.',
      whole: '',
      place: null,
    });
  });
});

describe('offsetOf', () => {
  it('finds a place in a text, and its end for one that is beyond', () => {
    const text = 'select\n  b';
    expect([
      offsetOf(text, { line: 2, column: 3 }),
      offsetOf(text, { line: 1, column: 99 }),
      offsetOf(text, { line: 9, column: 1 }),
    ]).toEqual([9, 10, 10]);
  });
});
