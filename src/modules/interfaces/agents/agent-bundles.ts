import { Injectable } from '@nestjs/common';
import { type AgentBundle, readAgentBundle } from '../../../../libs/compute-drivers/boot/agent-bundle';
import { notFound } from '../../../platform/kernel/errors/domain-error';

/** The agent that machines of clouds fetch. During an update, pods of another release have another one. */
@Injectable()
export class AgentBundles {
  private bundle: AgentBundle | null = null;

  /** The file with the checksum; 404 if this release has none. */
  async get(sha256: string): Promise<Buffer> {
    // Read once, since it never changes.
    this.bundle ??= await readAgentBundle().catch((error: NodeJS.ErrnoException) => {
      // Sources that run without a build have none.
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (this.bundle?.sha256 !== sha256)
      throw notFound('AGENT.BUNDLE_NOT_FOUND', 'This release has no agent with this checksum.');
    return this.bundle.content;
  }
}
