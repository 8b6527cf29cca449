import { Field } from '../kernel/dto/fields';
import { createValidationPipe } from './validation';

class Body {
  @Field.map({ optional: true }) labels?: Record<string, unknown>;
}

class Nested {
  @Field.id() disk_id: number;
  @Field.text({ optional: true }) name?: string;
}

class Required {
  @Field.id() cluster_id: number;
  @Field.text({ minLength: 1 }) name: string;
  @Field.texts() tags: string[];
  @Field.objects(() => Nested) disks: Nested[];
}

const transform = (body: string): Promise<Body> =>
  createValidationPipe().transform(JSON.parse(body), { type: 'body', metatype: Body }) as Promise<Body>;

const invalid = (part: string) =>
  expect.objectContaining({ code: 'REQUEST.INVALID', message: expect.stringContaining(part) });

describe('createValidationPipe', () => {
  it('keeps every key of a map unchanged', async () => {
    const labels = {
      toString: '1',
      hasOwnProperty: null,
      constructor: { prototype: { polluted: 1 } },
      nested: { valueOf: [1], constructor: 'Ferrari', prototype: null },
    };
    expect((await transform(JSON.stringify({ labels }))).labels).toEqual(labels);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each([
    ['["__proto__","1"]', 'a key must not be named __proto__'],
    ['["constructor","1"]', 'constructor is not a known field'],
    ['["prototype","1"]', 'prototype is not a known field'],
    ['["label","\\ud800"]', 'label contains half of a surrogate pair'],
  ])('refuses the parameter %s of a query', async (parameter, message) => {
    const query = Object.fromEntries([JSON.parse(parameter) as [string, string]]);
    const transformed = createValidationPipe().transform(query, { type: 'query', metatype: Body });
    await expect(transformed).rejects.toThrow(message);
  });

  it('says which fields are required, and which rules the others break', async () => {
    const body = { name: '', disks: [{ name: 'a' }] };
    const refused = createValidationPipe().transform(body, { type: 'body', metatype: Required });
    const fields = {
      cluster_id: ['cluster_id is required'],
      name: ['name must have at least 1 characters'],
      tags: ['tags is required'],
      'disks.0.disk_id': ['disks.0.disk_id is required'],
    };
    await expect(refused).rejects.toMatchObject({ details: { fields } });
  });

  it('reports only the type of a value that has the wrong one', async () => {
    const body = { cluster_id: 'first', name: 7, tags: [null], disks: [{ disk_id: null, name: 'a' }, { disk_id: -1 }] };
    const refused = createValidationPipe().transform(body, { type: 'body', metatype: Required });
    const fields = {
      cluster_id: ['cluster_id must be an integer'],
      name: ['name must be a string'],
      tags: ['each value in tags must be a string'],
      'disks.0.disk_id': ['disk_id must be an integer'],
      'disks.1.disk_id': ['disk_id must not be less than 0'],
    };
    await expect(refused).rejects.toMatchObject({ details: { fields } });
  });

  it('names unknown fields', async () => {
    await expect(transform('{"label":{}}')).rejects.toEqual(invalid('label is not a known field'));
  });
});
