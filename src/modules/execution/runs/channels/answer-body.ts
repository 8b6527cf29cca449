import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';

/** Maximum length of one answer, all parts together and decompressed. */
export const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

const inflateAsync = promisify(inflate);

/**
 * Joins the parts of an answer and decompresses them. The job compressed them and is not trusted: throws a 500 if the result is
 * too long or is not zlib data.
 */
export async function joinParts(parts: readonly Buffer[], isDeflated: boolean): Promise<Buffer> {
  const [only] = parts;
  const body = only && parts.length === 1 ? only : Buffer.concat(parts);
  if (!isDeflated) return body;
  try {
    return await inflateAsync(body, { maxOutputLength: MAX_RESPONSE_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw answerTooLong();
    throw new DomainError(
      'upstream',
      'CALL.ANSWER_MALFORMED',
      'The job sent an answer that could not be decompressed.',
    );
  }
}

export function answerTooLong(): DomainError {
  return new DomainError(
    'upstream',
    'CALL.ANSWER_TOO_LONG',
    `The job sent an answer of more than ${MAX_RESPONSE_BYTES} bytes. Return less data in one answer.`,
  );
}
