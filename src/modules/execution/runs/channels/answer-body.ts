import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';

/** Of one answer in all its parts, as it is given; bytes. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

const inflated = promisify(inflate);

/** What the parts of an answer are together. Compressed by the run, which may lie: 500 when it is too long or no such data. */
export async function bodyOfParts(parts: readonly Buffer[], isDeflated: boolean): Promise<Buffer> {
  const [only] = parts;
  const body = only && parts.length === 1 ? only : Buffer.concat(parts);
  if (!isDeflated) return body;
  try {
    return await inflated(body, { maxOutputLength: MAX_RESPONSE_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong();
    throw new DomainError('upstream', 'CALL.ANSWER_MALFORMED', 'The job sent an answer that cannot be read.');
  }
}

export function tooLong(): DomainError {
  return new DomainError('upstream', 'CALL.ANSWER_TOO_LONG', 'The answer of the job is too long.');
}
