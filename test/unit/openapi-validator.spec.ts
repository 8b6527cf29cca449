import { type ObservedResponse, OpenApiValidator } from '../harness/openapi-validator';

const json = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } });

const validator = new OpenApiValidator({
  openapi: '3.1.0',
  info: { title: 'test', version: '1' },
  paths: {
    '/api/things/{id}': {
      get: {
        responses: {
          200: json({ $ref: '#/components/schemas/Thing' }),
          404: { $ref: '#/components/responses/Problem' },
        },
      },
      delete: { responses: { 204: { description: 'gone' } } },
    },
    '/api/things/summary': { get: { responses: { 200: json({ type: 'array', items: { type: 'string' } }) } } },
    '/api/things': { get: { responses: { 200: json({ $ref: '#/components/schemas/ThingPage' }) } } },
    '/api/log': { get: { responses: { 200: { description: 'text', content: { 'text/plain': { schema: {} } } } } } },
    '/api/mixed': {
      get: {
        responses: {
          '2XX': json({
            anyOf: [{ $ref: '#/components/schemas/Thing' }, { $ref: '#/components/schemas/Free' }, { type: 'null' }],
          }),
        },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'integer', format: 'int64' },
          name: { type: 'string' },
          token: { type: 'string', format: 'uuid' },
          made: { type: ['string', 'null'], format: 'date-time' },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          inner: { type: 'object', properties: { a: { type: 'number', format: 'double' } } },
          extra: { $ref: '#/components/schemas/Free' },
        },
      },
      Free: { type: 'object', required: ['kind'], properties: { kind: { const: 'free' } }, additionalProperties: true },
      Page: { type: 'object', required: ['total'], properties: { total: { type: 'integer', format: 'int32' } } },
      ThingPage: {
        allOf: [
          { $ref: '#/components/schemas/Page' },
          { properties: { records: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } } },
        ],
      },
    },
    responses: { Problem: json({ type: 'object', required: ['error'], properties: { error: { type: 'string' } } }) },
  },
});

const problems = (path: string, body: unknown, more: Partial<ObservedResponse> = {}) =>
  validator.problemsOf({ method: 'GET', path, status: 200, contentType: 'application/json', body, ...more });

describe('OpenApiValidator', () => {
  it.each<[string, string, unknown, Partial<ObservedResponse>?]>([
    ['a full object', '/api/things/7', { id: 7, name: 'a', made: '2026-01-02T03:04:05.678Z', labels: { x: 'y' } }],
    ['a null where one is documented', '/api/things/7', { id: 7, name: 'a', made: null }],
    ['a schema that allows more fields', '/api/things/7', { id: 7, name: 'a', extra: { kind: 'free', more: 1 } }],
    ['a literal path before a parameter', '/api/things/summary', ['a']],
    ['a composition', '/api/things', { total: 1, records: [{ id: 1, name: 'a' }] }],
    ['a shared answer', '/api/things/7', { error: 'gone' }, { status: 404 }],
    ['an answer without content', '/api/things/7', undefined, { method: 'DELETE', status: 204, contentType: null }],
    ['a charset', '/api/things/summary', ['a'], { contentType: 'application/json; charset=utf-8' }],
    ['text', '/api/log', undefined, { contentType: 'text/plain' }],
    ['an alternative', '/api/mixed', null, { status: 201 }],
    ['an open alternative', '/api/mixed', { kind: 'free', more: true }],
  ])('accepts %s', (_what, path, body, more = {}) => {
    expect(problems(path, body, more)).toEqual([]);
  });

  it.each<[string, string, unknown, RegExp, Partial<ObservedResponse>?]>([
    ['an undocumented path', '/api/other', {}, /operation is not documented/],
    ['an undocumented method', '/api/things', {}, /operation is not documented/, { method: 'POST' }],
    ['an undocumented status', '/api/things/7', {}, /status 500 is not documented, only 200, 404/, { status: 500 }],
    ['a missing field', '/api/things/7', { id: 7 }, /required property 'name'/],
    ['a wrong type', '/api/things/7', { id: '7', name: 'a' }, /\/id must be integer/],
    ['a wrong format', '/api/things/7', { id: 7, name: 'a', token: 'x' }, /\/token must match format "uuid"/],
    ['a wrong date', '/api/things/7', { id: 7, name: 'a', made: 'today' }, /\/made must match format "date-time"/],
    ['an additional field', '/api/things/7', { id: 7, name: 'a', secret: 1 }, /must NOT have unevaluated.*"secret"/],
    ['an additional field inside', '/api/things/7', { id: 7, name: 'a', inner: { b: 1 } }, /\/inner must NOT/],
    ['a wrong label', '/api/things/7', { id: 7, name: 'a', labels: { x: 1 } }, /\/labels\/x must be string/],
    ['an additional field of a page', '/api/things', { total: 1, other: 1 }, /must NOT have unevaluated.*"other"/],
    ['one of a record', '/api/things', { total: 1, records: [{ id: 1, name: 'a', b: 1 }] }, /\/records\/0 must NOT/],
    ['one of an alternative', '/api/mixed', { id: 1, name: 'a', b: 1 }, /must NOT have unevaluated/],
    [
      'a text where JSON is due',
      '/api/things/7',
      undefined,
      /text\/plain is not documented/,
      { contentType: 'text/plain' },
    ],
    ['a missing body', '/api/things/7', undefined, /JSON body is documented/],
    ['a body where none is due', '/api/things/7', {}, /there is a body/, { method: 'DELETE', status: 204 }],
  ])('refuses %s', (_what, path, body, expected, more = {}) => {
    expect(problems(path, body, more).join('\n')).toMatch(expected);
  });

  it('throws one assertion error that lists every problem', () => {
    const response = { method: 'get', path: '/api/things/7', status: 200, contentType: 'application/json' };
    expect(() => validator.assertResponse({ ...response, body: { id: 'x', more: 1 } })).toThrow(
      /GET \/api\/things\/7 answered 200[^]*name[^]*\/id must be integer[^]*"more"/,
    );
    expect(() => validator.assertResponse({ ...response, body: { id: 1, name: 'a' } })).not.toThrow();
  });
});
