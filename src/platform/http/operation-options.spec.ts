import { Allow } from '../kernel/auth/access';
import { Field } from '../kernel/dto/fields';
import { returnsSecret, isStreamed, type OperationOptions } from './operation-options';

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
  response: { kind: 'none' },
  ...more,
});

describe('an operation', () => {
  it.each<[Partial<OperationOptions>, boolean]>([
    [{}, false],
    [{ response: { kind: 'object', type: Plain } }, false],
    [{ response: { kind: 'object', type: WithToken } }, true],
    [{ response: { kind: 'page', type: WithToken } }, true],
    [{ returnsSecret: true }, true],
    [{ opensSession: true }, true],
  ])('with %j returns a secret: %p', (more, isSecret) => expect(returnsSecret(operation(more))).toBe(isSecret));

  it.each<[Partial<OperationOptions>, boolean]>([
    [{}, false],
    [{ response: { kind: 'binary' } }, true],
    [{ response: { kind: 'text' } }, true],
    [{ binaryBody: true }, true],
    [{ binaryBody: true, maxBodyBytes: 1 }, false],
    [{ binaryBody: true, maxBodyBytes: 1, isLongRunning: true }, true],
  ])('with %j is streamed: %p', (more, carries) => expect(isStreamed(operation(more))).toBe(carries));
});
