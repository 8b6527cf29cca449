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

  it.each([
    ['["__proto__","1"]', 'no key may be called __proto__'],
    ['["constructor","1"]', 'no key may be called constructor'],
    ['["label","\\ud800"]', 'label contains half of a surrogate pair'],
  ])('refuses the parameter %s of a query', async (parameter, message) => {
    const query = Object.fromEntries([JSON.parse(parameter) as [string, string]]);
    const transformed = createValidationPipe().transform(query, { type: 'query', metatype: Body });
    await expect(transformed).rejects.toThrow(message);
  });

  it('names what it does not know', async () => {
    await expect(transform('{"label":{}}')).rejects.toEqual(invalid('label is not a known field'));
  });
});
