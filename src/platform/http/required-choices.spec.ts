import type { OpenAPIObject } from '@nestjs/swagger';
import { gatherRequiredChoices } from './required-choices';

const choice = ['a_id', 'a_name'];
const marked = (name: string) => ({ name, 'x-one-is-required': choice });

describe('gatherRequiredChoices', () => {
  it('names a choice once, at the operation or the schema, and leaves others alone', () => {
    const document = {
      paths: {
        '/a': {
          get: { parameters: [marked('a_id'), marked('a_name'), { name: 'limit', schema: { type: 'integer' } }] },
          post: { parameters: [{ name: 'b', schema: {}, 'x-one-is-required': ['b', 'c'] }] },
          delete: {},
        },
      },
      components: { schemas: { A: { properties: { a_id: marked('a'), a_name: marked('b') } }, B: {} } },
    };
    gatherRequiredChoices(document as unknown as OpenAPIObject);
    expect(document.paths['/a']).toEqual({
      get: {
        parameters: [{ name: 'a_id' }, { name: 'a_name' }, { name: 'limit', schema: { type: 'integer' } }],
        'x-one-is-required': [choice],
      },
      post: { parameters: [{ name: 'b', schema: {} }], 'x-one-is-required': [['b', 'c']] },
      delete: {},
    });
    expect(document.components.schemas).toEqual({
      A: { properties: { a_id: { name: 'a' }, a_name: { name: 'b' } }, 'x-one-is-required': [choice] },
      B: {},
    });
  });
});
