import { ComputeDriverError } from '../compute-drivers/compute-driver';
import { ProviderUnreachableError } from './credential-check';

/** The provider answers, and does not say which rights there are. The message is what it says. */
export class RightsUnknownError extends Error {}

/**
 * What credentials that work are not allowed and nodes need, for people; null for nothing. Who uses them for something
 * else needs none of it.
 * @param where such as `in own-project`
 * @param look answers the provider's own names of the rights that are missing
 */
export async function lackedRights(where: string, look: () => Promise<readonly string[]>): Promise<string | null> {
  try {
    const lacking = await look();
    return lacking.length === 0 ? null : `To make nodes ${where}, they lack ${lacking.join(', ')}.`;
  } catch (error) {
    const kinds = [ProviderUnreachableError, RightsUnknownError, ComputeDriverError];
    if (!(error instanceof Error) || !kinds.some((kind) => error instanceof kind)) throw error;
    return `Whether they may make nodes ${where} is not known: ${error.message.replace(/[.]?$/, '.')}`;
  }
}
