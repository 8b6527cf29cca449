import { Allow } from '../kernel/auth/access';
import { Field } from '../kernel/dto/fields';
import { answersSecret, carriesStream, type OperationOptions } from './operation-options';

class Plain {
  @Field.idText() token_id: string;
  @Field.text() token_regex: string;
}

class WithToken extends Plain {
  @Field.text() access_token: string;
}

const operation = (more: Partial<OperationOptions>): OperationOptions => ({
  method: 'GET',
  path: '/',
  id: 'id',
  summary: '',
  tag: '',
  access: Allow.everyone,
  answer: { kind: 'none' },
  ...more,
});

describe('an operation', () => {
  it.each<[Partial<OperationOptions>, boolean]>([
    [{}, false],
    [{ answer: { kind: 'object', type: Plain } }, false],
    [{ answer: { kind: 'object', type: WithToken } }, true],
    [{ answer: { kind: 'page', type: WithToken } }, true],
    [{ answersSecret: true }, true],
    [{ opensSession: true }, true],
  ])('with %j answers a secret: %p', (more, isSecret) => expect(answersSecret(operation(more))).toBe(isSecret));

  it.each<[Partial<OperationOptions>, boolean]>([
    [{}, false],
    [{ answer: { kind: 'binary' } }, true],
    [{ answer: { kind: 'text' } }, true],
    [{ binaryBody: true }, true],
    [{ binaryBody: true, maxBodyBytes: 1 }, false],
    [{ binaryBody: true, maxBodyBytes: 1, waitsLong: true }, true],
  ])('with %j carries a stream: %p', (more, carries) => expect(carriesStream(operation(more))).toBe(carries));
});
