import { Injectable } from '@nestjs/common';
import { readAgentBundle } from '../../../../../libs/compute-drivers/boot/agent-bundle';
import { makeBootScript } from '../../../../../libs/compute-drivers/boot/boot-script';
import type { CloudDriverOptions } from '../../../../../libs/compute-drivers/cloud-driver';
import type { ComputeDriver } from '../../../../../libs/compute-drivers/compute-driver';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import { isLoopbackUrl } from '../../../../config/env-reader';
import type { DriverRegistration } from './driver-registration';

/** Registers the drivers whose machines boot by a script. */
@Injectable()
export class CloudRegistrations {
  constructor(
    private readonly config: Config,
    private readonly outbound: OutboundPolicy,
  ) {}

  /**
   * @param endpoint overrides the provider's usual endpoint and that of the environment; null overrides nothing
   * @param make creates the driver and imports its module: `async (options) => new (await import('…')).XDriver(options)`
   */
  registrationOf(
    endpoint: string | null,
    make: (options: CloudDriverOptions) => Promise<ComputeDriver>,
  ): DriverRegistration {
    return {
      disabledReason: () => null,
      unreachableReason: (ofEnvironment) => this.unreachableReason(endpoint ?? ofEnvironment),
      // Each node has its own machine.
      isolatesTenants: true,
      make: async () => make(await this.options(endpoint)),
    };
  }

  /** If the agents' address is a loopback address, only machines of a provider on this host can reach it. */
  private unreachableReason(endpoint: string | null): string | null {
    if (!this.config.agent.apiIsLocal || (endpoint !== null && isLoopbackUrl(endpoint))) return null;
    return 'Cloud machines cannot reach the platform, because AGENT_API_URL is a loopback address. Set it to an address that they can reach.';
  }

  private async options(endpoint: string | null): Promise<CloudDriverOptions> {
    const { boot } = this.config.compute;
    const { sha256 } = await readAgentBundle();
    return { bootScript: makeBootScript({ ...boot, agentSha256: sha256 }), outbound: this.outbound, endpoint };
  }
}
