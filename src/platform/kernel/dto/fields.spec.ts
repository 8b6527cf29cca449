import 'reflect-metadata';
import { singleLine } from '../../../../libs/contracts/single-line';
import { createValidationPipe } from '../../http/validation';
import { Field, Param } from './fields';

class Lines {
  @Field.line({ optional: true }) line?: string;
  @Field.line({ optional: true, filled: true }) filled?: string;
  @Param.someOf(['Jar', 'Python3']) kinds?: string[];
  @Param.ids() ids?: number[];
}

class Report {
  @Field.reportedText({ maxLength: 20 }) words: string;
  @Field.reportedText({ nullable: true }) reason: string | null;
  @Field.reportedCode(/^[A-Z_]{1,20}$/) code: string | null;
}

const CONTROL = ['\u0000', '\t', '\n', '\r', '\u001f', '\u007f', '\u0085', '\u009f'];

describe('fields', () => {
  const validate = (value: object) =>
    createValidationPipe().transform(value, { type: 'query', metatype: Lines }) as Promise<Lines>;

  it.each(['', ' ', '\u00a0', 'a', ' a ', 'ü 🎉', '\ud83d\ude00', '\u2028'])('a line is %j', async (line) => {
    await expect(validate({ line })).resolves.toMatchObject({ line });
  });

  it.each(['a', ' a ', '\u00a0ü', '🎉', 'a b'])('a filled line is %j', async (filled) => {
    await expect(validate({ filled })).resolves.toMatchObject({ filled });
  });

  it.each(['', ' ', '\u00a0 \u2003'])('a filled line is not %j', async (filled) => {
    await expect(validate({ filled })).rejects.toThrow('filled');
  });

  it.each(CONTROL)('a line has no %j', async (control) => {
    for (const text of [control, `a${control}`, `${control}a`, ` ${control}a`, `a${control}b`]) {
      await expect(validate({ line: text })).rejects.toThrow('without control characters');
      await expect(validate({ filled: text })).rejects.toThrow('without control characters');
    }
  });

  it.each([
    ['a\n\0b', 'a b'],
    ['\n', ''],
    ['x'.repeat(50_000), `${'x'.repeat(9)} … ${'x'.repeat(8)}`],
  ])('a text that a machine reports is never refused: %j', async (text, words) => {
    const body = { words: text, reason: text, code: text };
    const report = (await createValidationPipe().transform(body, { type: 'body', metatype: Report })) as Report;
    expect(report).toMatchObject({ words, code: null });
    expect(report.reason).toBe(words === '' ? null : singleLine(text));
  });

  it.each([[{ words: 7 }], [{ words: null }], [{ reason: {} }], [{ code: 7 }]])(
    'a machine may not report %j',
    async (wrong) => {
      const body = { words: '', reason: null, code: 'A', ...wrong };
      const reading = createValidationPipe().transform(body, { type: 'body', metatype: Report });
      await expect(reading).rejects.toThrow(Object.keys(wrong)[0]);
    },
  );

  it('validates a long line in linear time', async () => {
    const started = performance.now();
    for (const filled of [' '.repeat(1023), `${'a'.repeat(1022)}\n`, `${' '.repeat(1022)}\n`]) {
      for (let count = 0; count < 100; count += 1) await validate({ filled }).catch(() => undefined);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it.each(['', 'Jar,', ',', 'Jar,,Python3', 'Ruby'])('a list of listed values is not %j', async (kinds) => {
    await expect(validate({ kinds })).rejects.toThrow('each value in kinds must be one of Jar, Python3');
  });

  it('lists of listed values and of ids may be repeated or comma separated', async () => {
    await expect(validate({ kinds: ['jar', 'python3,JAR'] })).resolves.toEqual({ kinds: ['Jar', 'Python3', 'Jar'] });
    await expect(validate({ ids: ['1,2', '3', ''] })).resolves.toEqual({ ids: [1, 2, 3] });
  });
});
