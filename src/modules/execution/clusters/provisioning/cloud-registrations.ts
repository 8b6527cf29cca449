import { Injectable } from '@nestjs/common';
import { readAgentBundle } from '../../../../../libs/compute-drivers/boot/agent-bundle';
import { makeBootScript } from '../../../../../libs/compute-drivers/boot/boot-script';
import type { CloudDriverOptions } from '../../../../../libs/compute-drivers/cloud-driver';
import type { ComputeDriver } from '../../../../../libs/compute-drivers/compute-driver';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import { Config } from '../../../../config/config';
import { isLoopbackUrl } from '../../../../config/env-reader';
import type { DriverRegistration } from './driver-registration';

/** Registers drivers of machines that boot by a script: what they have in common. */
@Injectable()
export class CloudRegistrations {
  constructor(
    private readonly config: Config,
    private readonly outbound: OutboundPolicy,
  ) {}

  /**
   * @param endpoint where the provider answers, if neither where it usually does nor where the environment says
   * @param make the driver, from a module that is imported there: `async (options) => new (await import('…')).XDriver(options)`
   */
  of(endpoint: string | null, make: (options: CloudDriverOptions) => Promise<ComputeDriver>): DriverRegistration {
    return {
      disabled: () => null,
      cutOff: (ofEnvironment) => this.cutOff(endpoint ?? ofEnvironment),
      // Each node is a machine of its own.
      keepsTenantsApart: true,
      make: async () => make(await this.options(endpoint)),
    };
  }

  /** Machines of a provider on this machine may be here, too; others cannot reach it. */
  private cutOff(endpoint: string | null): string | null {
    if (!this.config.agent.apiIsLocal || (endpoint !== null && isLoopbackUrl(endpoint))) return null;
    return 'Machines of clouds cannot reach the platform: AGENT_API_URL names an address of its own machine only.';
  }

  private async options(endpoint: string | null): Promise<CloudDriverOptions> {
    const { boot } = this.config.compute;
    const { sha256 } = await readAgentBundle();
    return { bootScript: makeBootScript({ ...boot, agentSha256: sha256 }), outbound: this.outbound, endpoint };
  }
}
