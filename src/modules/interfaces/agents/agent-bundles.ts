import { Injectable } from '@nestjs/common';
import { type AgentBundle, readAgentBundle } from '../../../../libs/compute-drivers/boot/agent-bundle';
import { notFound } from '../../../platform/kernel/errors/domain-error';

/** The agent program that cloud machines download. During an update, pods of different releases serve different programs. */
@Injectable()
export class AgentBundles {
  private bundle: AgentBundle | null = null;

  /** Returns the file with the checksum; throws a 404 if this release has another one or none. */
  async get(sha256: string): Promise<Buffer> {
    // Cached, because it never changes.
    this.bundle ??= await readAgentBundle().catch((error: NodeJS.ErrnoException) => {
      // A process that runs from sources, without a build, has no bundle.
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (this.bundle?.sha256 !== sha256)
      throw notFound(
        'AGENT.BUNDLE_NOT_FOUND',
        'This release has no agent with this checksum. The machine must be provisioned by the same release.',
      );
    return this.bundle.content;
  }
}
