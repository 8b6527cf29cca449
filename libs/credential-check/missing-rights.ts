import { ComputeDriverError } from '../compute-drivers/compute-driver';
import { ProviderUnreachableError } from './credential-check';

/** The provider responded but did not return the rights. The message has its reason. */
export class RightsUnknownError extends Error {}

/**
 * Returns a sentence about the rights that working credentials lack to create nodes; null if they lack none. Credentials for
 * other purposes do not need these rights, so they still count as working.
 * @param where such as `in own-project`
 * @param findMissing returns the provider's names of the missing rights
 */
export async function describeMissingRights(
  where: string,
  findMissing: () => Promise<readonly string[]>,
): Promise<string | null> {
  try {
    const lacking = await findMissing();
    return lacking.length === 0 ? null : `To create nodes ${where}, the credentials lack ${lacking.join(', ')}.`;
  } catch (error) {
    const kinds = [ProviderUnreachableError, RightsUnknownError, ComputeDriverError];
    if (!(error instanceof Error) || !kinds.some((kind) => error instanceof kind)) throw error;
    return `The platform could not check whether the credentials may create nodes ${where}: ${error.message.replace(/[.]?$/, '.')}`;
  }
}
