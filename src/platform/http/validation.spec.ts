import { Field } from './fields';
import { createValidationPipe } from './validation';

class Body {
  @Field.map({ optional: true }) labels?: Record<string, unknown>;
}

const transform = (body: string): Promise<Body> =>
  createValidationPipe().transform(JSON.parse(body), { type: 'body', metatype: Body }) as Promise<Body>;

const invalid = (part: string) =>
  expect.objectContaining({ code: 'REQUEST.INVALID', message: expect.stringContaining(part) });

describe('createValidationPipe', () => {
  it('gives every key of a map as it was sent', async () => {
    const labels = { toString: '1', hasOwnProperty: null, nested: { valueOf: [1] } };
    expect((await transform(JSON.stringify({ labels }))).labels).toEqual(labels);
  });

  it.each(['{"labels":{"__proto__":"1"}}', '{"labels":{"a":[{"constructor":1}]}}', '{"prototype":1}'])(
    'refuses %s, of which a key would be lost',
    async (body) => {
      await expect(transform(body)).rejects.toEqual(invalid('no key may be called'));
    },
  );

  it('refuses what is nested deeper than anything needs', async () => {
    const nested = (levels: number) => `{"labels":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    await expect(transform(nested(50))).resolves.toBeInstanceOf(Body);
    await expect(transform(nested(100_000))).rejects.toEqual(invalid('nested'));
  });

  it.each(['{"labels":{"team":"\\ud800"}}', '{"labels":{"team":["a","\\udc00b"]}}'])(
    'refuses %s, which is no Unicode, and names the key',
    async (body) => {
      await expect(transform(body)).rejects.toMatchObject({
        code: 'REQUEST.INVALID_TEXT',
        message: 'team holds half of a surrogate pair, which is no character.',
      });
    },
  );

  it('refuses keys that are no Unicode, and takes characters beyond 16 bits', async () => {
    await expect(transform('{"labels":{"\\ud800":"a"}}')).rejects.toMatchObject({ code: 'REQUEST.INVALID_TEXT' });
    await expect(transform('{"labels":{"\\ud83d\\ude00":"\\ud83d\\ude00"}}')).resolves.toMatchObject({
      labels: { '😀': '😀' },
    });
  });

  it('names what it does not know', async () => {
    await expect(transform('{"label":{}}')).rejects.toEqual(invalid('label is not a known field'));
  });
});
