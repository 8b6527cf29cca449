import 'reflect-metadata';
import type { OpenAPIObject } from '@nestjs/swagger';
import { EnvReader } from '../../src/config/env-reader';
import { readHttpConfig } from '../../src/config/http.config';
import { createApi } from '../../src/create-api';
import { answerExamples } from '../../src/platform/http/answer-examples';
import { createOpenApiDocument } from '../../src/platform/http/openapi';
import { OpenApiValidator } from '../harness/openapi-validator';

/** Lists that are empty in all tests with a recorder, with what they would need. */
const WITHOUT_RECORD: Readonly<Record<string, string>> = {
  browseFunctions: 'a metastore with functions',
  browseVolumes: 'a metastore with volumes',
  listJobWorkflowErrors: 'a step that failed and was tried again',
  listNotebookWorkflowErrors: 'a step that failed and was tried again',
};

interface Answering {
  operationId: string;
  responses: Record<string, { content?: Record<string, { example?: unknown }> }>;
}

interface Success {
  id: string;
  method: string;
  path: string;
  status: number;
  example: unknown;
}

describe('the examples of answers', () => {
  let document: OpenAPIObject;
  let successes: Success[];

  beforeAll(async () => {
    const app = await createApi({ preview: true, http: readHttpConfig(new EnvReader({})) });
    document = createOpenApiDocument(app, '1.2.3');
    successes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Answering>).flatMap(([method, { operationId: id, responses }]) =>
        Object.entries(responses).flatMap(([status, { content }]) => {
          const json = content?.['application/json'];
          if (!status.startsWith('2') || !json) return [];
          return [{ id, method, path, status: Number(status), example: json.example }];
        }),
      ),
    );
  });

  it('are there for each operation that answers with JSON, and for no other', () => {
    const without = successes.filter(({ example }) => example === undefined).map(({ id }) => id);
    expect(without).toEqual([]);
    const ids = new Set(successes.map(({ id }) => id));
    expect(Object.keys(answerExamples()).filter((id) => !ids.has(id))).toEqual([]);
  });

  it('show a record where they are lists', () => {
    const empty = successes.filter(({ example }) => /^(\[\]|\{"data":\[\])/.test(JSON.stringify(example) ?? ''));
    expect(empty.map(({ id }) => id).sort()).toEqual(Object.keys(WITHOUT_RECORD).sort());
  });

  it('fit their schemas', () => {
    const validator = new OpenApiValidator(document);
    const problems = successes.flatMap(({ id, method, path, status, example: body }) => {
      if (body === undefined) return [];
      const answer = {
        method,
        path: `/api/v1${path}`.replaceAll(/\{\w+\}/g, '1'),
        status,
        contentType: 'application/json',
        body,
      };
      return validator.problemsOf(answer).map((problem) => `${id}: ${problem}`);
    });
    // Repair: npm run examples:record -- --match=<a medium test that calls the operation>
    expect(problems).toEqual([]);
  });

  it('hold nothing of the machine on which they were recorded', () => {
    const text = JSON.stringify(answerExamples());
    expect(text.match(/127\.0\.0\.1:\d+|\/tmp\/|\/root\/|\/home\/|eyJ[\w-]{10,}/g)).toBeNull();
  });

  it('are steady: what differs from run to run is replaced', async () => {
    const { steady } = await import('../../scripts/examples/steady.mjs');
    const answerAt = (time: string, uuid: string, token: string) => ({
      tenant_id: uuid,
      session_id: uuid,
      user_id: 710_000_123,
      from_date: time,
      to_date: 'infinity',
      token,
      url: 'http://127.0.0.1:4711/a',
    });
    const first = steady(answerAt('2026-03-01T10:00:00.123Z', '0f8fad5b-d9cb-469f-a165-70867728950e', 'a.b'));
    expect(first).toEqual(steady(answerAt('2027-01-01T00:00:00Z', '70867728-d9cb-469f-a165-0f8fad5b950e', 'c')));
    expect(first).toEqual({
      tenant_id: '00000000-0000-4000-8000-000000000001',
      session_id: '00000000-0000-4000-8000-000000000001',
      user_id: 1,
      from_date: '2026-01-31T08:00:00.000Z',
      to_date: 'infinity',
      token: 'example-secret',
      url: 'http://platform.example.org/a',
    });
  });
});
