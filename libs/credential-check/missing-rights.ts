import { ComputeDriverError } from '../compute-drivers/compute-driver';
import { ProviderUnreachableError } from './credential-check';

/** The provider answers, and does not say which rights there are. The message is what it says. */
export class RightsUnknownError extends Error {}

/**
 * What credentials that work are not allowed and nodes need, for people; null for nothing. Who uses them for something
 * else needs none of it.
 * @param where such as `in own-project`
 * @param findMissing answers the provider's own names of the rights that are missing
 */
export async function describeMissingRights(
  where: string,
  findMissing: () => Promise<readonly string[]>,
): Promise<string | null> {
  try {
    const lacking = await findMissing();
    return lacking.length === 0 ? null : `To make nodes ${where}, they lack ${lacking.join(', ')}.`;
  } catch (error) {
    const kinds = [ProviderUnreachableError, RightsUnknownError, ComputeDriverError];
    if (!(error instanceof Error) || !kinds.some((kind) => error instanceof kind)) throw error;
    return `Whether they may make nodes ${where} is not known: ${error.message.replace(/[.]?$/, '.')}`;
  }
}
