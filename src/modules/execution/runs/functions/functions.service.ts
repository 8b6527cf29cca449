import { Injectable } from '@nestjs/common';
import { singleLine } from '../../../../../libs/contracts/single-line';
import { exactJson } from '../../../../../libs/json/exact-json';
import { readOpaque } from '../../../../../libs/json/opaque-json';
import { readUntrusted, type UntrustedBounds } from '../../../../../libs/json/parse-json';
import { behindByteOrderMark } from '../../../../../libs/json/byte-order-mark';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { DomainError, invalid, tooMany } from '../../../../platform/kernel/errors/domain-error';
import { API_PREFIX } from '../../../../platform/http/openapi';
import { UntrustedJson } from '../../../../platform/kernel/json/untrusted-json';
import { DEFAULT_TIMEOUT_SECONDS, EXAMPLE_JSON } from '../jobs/function-settings';
import { FUNCTION } from '../jobs/run-kinds';
import type { RunDetailRow } from '../jobs/runs.repository';
import { RunsService } from '../jobs/runs.service';
import { RunCallsService } from '../channels/run-calls.service';

/** Longest body of an invocation; bytes. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;
const OPENAPI_VERSION = '3.1.0';

export interface Invocation {
  id: string;
  /** JSON. */
  body: Buffer;
}

/** Invokes functions that jobs serve. */
@Injectable()
export class FunctionsService {
  constructor(
    private readonly runs: RunsService,
    private readonly calls: RunCallsService,
    private readonly json: UntrustedJson,
  ) {}

  /**
   * Passes a JSON body to the function of a run. Throws a 409 if the run is not RUNNING, a 422 if the function fails, a 429 if it
   * has no room for another call, and a 504 if it takes too long.
   */
  async invoke(
    scope: WorkspaceScope,
    jobId: number,
    { body, signal }: { body: Buffer; signal: AbortSignal },
  ): Promise<Invocation> {
    const run = await this.runs.callable({ ...scope, kind: FUNCTION }, jobId);
    const json = behindByteOrderMark(body);
    const text = json.length === 0 ? Buffer.from('null') : json;
    if (!(await this.json.isJson(scope.tenantId, text)))
      throw invalid('REQUEST.MALFORMED_JSON', 'The body is not valid JSON.');
    const seconds = timeoutSeconds(run);
    const answer = await this.calls.call(run, text, { timeoutMs: seconds * 1_000, signal });
    switch (answer.outcome) {
      case 'ok':
        return { id: answer.id, body: await this.jsonOf(scope, answer.body) };
      case 'error':
        throw functionFailed(answer.body);
      case 'full':
        throw tooMany(
          'FUNCTION.FULL',
          'The function already has as many calls as it accepts at once. Try again later.',
          RETRY_AFTER_SECONDS,
        );
      case 'timeout':
        throw new DomainError(
          'late',
          'FUNCTION.TIMEOUT',
          `The function did not answer within ${seconds} seconds, its request_timeout_sec.`,
        );
      case 'unanswerable':
        throw new DomainError('upstream', 'FUNCTION.UNANSWERABLE', 'The job sent no usable answer from the function.');
    }
  }

  /** Returns an OpenAPI document, as JSON, of the call that the run serves, with the example request of its configuration. */
  async describe(scope: WorkspaceScope, jobId: number): Promise<string> {
    const run = await this.runs.serving({ ...scope, kind: FUNCTION }, jobId);
    const { name, settings } = run.job_conf_snapshot;
    const example = settings.platform_functions_example_request_body;
    const json = (example?: unknown) => ({
      'application/json': { schema: {}, ...(example !== undefined && { example }) },
    });
    return exactJson({
      openapi: OPENAPI_VERSION,
      info: { title: name, version: String(jobId) },
      servers: [{ url: `/${API_PREFIX}` }],
      security: [{ bearerAuth: [] }],
      paths: {
        [`/workspace/${scope.workspace.workspaceId}/spark/job/${jobId}/invoke`]: {
          post: {
            operationId: settings.platform_functions_function_name,
            description: `Responds within ${timeoutSeconds(run)} seconds, else with a 504. Available while the job is RUNNING.`,
            // The example was checked to be JSON. Configurations of releases without functions have none.
            requestBody: {
              required: true,
              content: json(
                example ? readOpaque(Buffer.from(example), { ...EXAMPLE_JSON, parsedLevels: 0 }) : undefined,
              ),
            },
            responses: {
              200: { description: 'What the function returned', content: json() },
              default: { description: 'An error: `error_code` says which', content: json() },
            },
          },
        },
      },
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
    });
  }

  /** Returns the body if it is JSON. The job is not trusted: it can send any bytes. */
  private async jsonOf({ tenantId }: TenantScope, body: Buffer): Promise<Buffer> {
    if (await this.json.isJson(tenantId, body)) return body;
    throw new DomainError(
      'upstream',
      'FUNCTION.UNANSWERABLE',
      'The function returned something other than JSON. Correct its return value.',
    );
  }
}

function timeoutSeconds({ job_conf_snapshot: { settings } }: RunDetailRow): number {
  return settings.platform_functions_request_timeout_sec ?? DEFAULT_TIMEOUT_SECONDS;
}

const MAX_TEXT_LENGTH = 4_000;
const MAX_LINES = 30;
/** The bridge's description of a failure fits, even if every character is escaped. */
const FAILURE: UntrustedBounds = { bytes: 1024 * 1024, values: 100, levels: 2 };

/** Returns the 422 with the exception that the function raised, as far as the bridge describes it. */
function functionFailed(body: Buffer): DomainError {
  const failure = Object(readUntrusted(body, FAILURE)) as Record<string, unknown>;
  const text = (value: unknown, otherwise: string) =>
    (typeof value === 'string' ? value : otherwise).slice(0, MAX_TEXT_LENGTH).toWellFormed();
  const type = text(failure['type'], 'Exception');
  const message = text(failure['message'], '');
  const traceback = Array.isArray(failure['lines']) ? failure['lines'] : [];
  const lines = traceback.slice(-MAX_LINES).map((line) => text(line, ''));
  return new DomainError('unprocessable', 'FUNCTION.FAILED', singleLine(`${type}: ${message}`), {
    type,
    message,
    lines,
  });
}
