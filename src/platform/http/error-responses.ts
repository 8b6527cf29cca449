import { getSchemaPath } from '@nestjs/swagger';
import { ErrorAnswerBody } from './error-answer-body';

/** Statuses with a response of their own. The others have one cause for all operations, so one response describes them. */
const ERROR_TEXT = {
  400: 'The request is malformed, a field breaks a rule, or the current state does not allow it',
  401: 'The token is missing or not valid',
  403: 'A role, a workspace permission or a selected tenant is missing',
  404: 'The tenant has no such record',
  409: 'The request conflicts with the current state or with another record',
  422: 'The code of the function failed; `details` has the type, message and lines of its error',
  429: 'Too many attempts or concurrent streams; see Retry-After',
  500: 'Unexpected failure, or a dependency does not respond',
  504: 'The response took too long',
  default:
    'Any other error. 408: the headers or the body of the request took too long to arrive. 413: the body is too large. 415: the operation does not accept a ' +
    'body of this type. 431: the URL and headers of the request are too large. 503: a required system does not respond, or the server is ' +
    'overloaded; see Retry-After.',
} as const;

export type ErrorStatus = keyof typeof ERROR_TEXT;

const OVERLOADED: readonly string[] = ['429', 'default'];
const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait before sending the request again; absent if that is not known',
    schema: { type: 'integer', minimum: 0 },
  },
};

const example = (error: string, error_code: string, details: object = {}) => ({
  ...{ error, error_code, error_message: error, details },
  correlation_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
});
const MANAGERS = ['CAN MANAGE CLUSTER', 'ADMIN', 'PLATFORM ADMIN'];

/** Errors as the platform sends them; `error-examples.medium-spec.ts` causes each and compares it. */
export const ERROR_EXAMPLES: Partial<Record<ErrorStatus, ReturnType<typeof example>>> = {
  400: example('The request is not valid: name is required.', 'REQUEST.INVALID', {
    fields: { name: ['name is required'] },
  }),
  401: example('A bearer token is required.', 'AUTH.UNAUTHENTICATED'),
  403: example(`This operation needs one of the roles ${MANAGERS.join(', ')}.`, 'AUTH.ROLE_REQUIRED', {
    roles: MANAGERS,
  }),
  404: example('There is no cluster with name "example-cluster".', 'CLUSTER.NOT_FOUND'),
  409: example('The workspace "example-workspace" is already enabled.', 'WORKSPACE.INVALID_STATE'),
  default: example(
    'The body of this operation must be JSON: send it with Content-Type application/json.',
    'REQUEST.UNSUPPORTED_MEDIA',
  ),
};

/** Returns the description of a status, as each operation has it. */
export function errorText(status: ErrorStatus): string {
  return ERROR_TEXT[status];
}

/** Returns the name of a shared error response: `Error404`, `ErrorDefault`. */
export function sharedErrorName(status: string): string {
  return status === 'default' ? 'ErrorDefault' : `Error${status}`;
}

/** Returns the response of a status as operations refer to it, without what the document adds once. */
export function plainErrorResponse(status: string): object | undefined {
  if (!(status in ERROR_TEXT)) return undefined;
  const content = { 'application/json': { schema: { $ref: getSchemaPath(ErrorAnswerBody) } } };
  return { content, description: errorText(status as ErrorStatus) };
}

/** Returns the error responses, which the document has once for all operations. */
export function sharedErrorResponses(): Record<string, object> {
  const statuses = Object.keys(ERROR_TEXT) as `${ErrorStatus}`[];
  return Object.fromEntries(
    statuses.map((status) => {
      const [schema, shown] = [{ $ref: getSchemaPath(ErrorAnswerBody) }, ERROR_EXAMPLES[status as ErrorStatus]];
      return [
        sharedErrorName(status),
        {
          description: errorText(status as ErrorStatus),
          ...(OVERLOADED.includes(status) ? { headers: RETRY_AFTER } : {}),
          content: { 'application/json': { schema, ...(shown && { example: shown }) } },
        },
      ];
    }),
  );
}
