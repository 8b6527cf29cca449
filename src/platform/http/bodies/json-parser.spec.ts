import { JSON_BOUNDS } from '../../../../libs/json/strict-json';
import { createLogger } from '../../kernel/logging/logger';
import { JsonParser } from './json-parser';
import { LargeBodyTurns } from './large-body-turns';

describe('JsonParser', () => {
  const parser = new JsonParser(new LargeBodyTurns(), createLogger('test', 'silent'));
  const parsed = (text: string) => parser.parse(Buffer.from(text), JSON_BOUNDS);
  const long = 'é"\\😀'.repeat(100_000);

  afterAll(() => parser.onApplicationShutdown());

  it('parses large texts as it does small ones', async () => {
    expect(await parsed('{"a":[1,null]}')).toEqual({ value: { a: [1, null] } });
    expect(await parsed(JSON.stringify({ long, map: { a: [1, null] } }))).toEqual({
      value: { long, map: { a: [1, null] } },
    });
    expect(await parsed(`${JSON.stringify({ long })}}`)).toEqual({ fault: expect.any(String) });
    expect(await parsed(`[${'1,'.repeat(500_000)}1]`)).toEqual({ broken: 'values' });
    const own = await parsed(`{"long":"${'a'.repeat(300_000)}","__proto__":{"a":1}}`);
    expect(own).toEqual({ unusable: { why: 'key', of: '__proto__' } });
  });

  it('parses several at once', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `{"n":${index},"long":"${'a'.repeat(300_000)}"}`);
    const values = await Promise.all(texts.map(parsed));
    expect(values.map((one) => 'value' in one && (one.value as { n: number }).n)).toEqual([...texts.keys()]);
  });

  it('does not block the event loop', async () => {
    const text = JSON.stringify({ long: long.repeat(4) });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await parsed(text);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it('works again after its thread has ended', async () => {
    const mortal = new JsonParser(new LargeBodyTurns(), createLogger('test', 'silent'));
    const text = () => Buffer.from(JSON.stringify({ long }));
    const lost = expect(mortal.parse(text(), JSON_BOUNDS)).rejects.toThrow('ended');
    // A thread needs longer than this to start.
    await new Promise((resolve) => setImmediate(resolve));
    await mortal.onApplicationShutdown();
    await lost;
    expect(await mortal.parse(text(), JSON_BOUNDS)).toEqual({ value: { long } });
    await mortal.onApplicationShutdown();
  });
});
