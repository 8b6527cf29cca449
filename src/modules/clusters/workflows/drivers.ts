import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { ComputeDriver } from '../../../../libs/compute-drivers/compute-driver';
import { LocalDriver } from '../../../../libs/compute-drivers/local/local-driver';
import { Config } from '../../../config/config';
import { PermanentError } from '../../../platform/workflows/workflow-definition';
import { LocalConfinementService } from '../../cloud-envs/local-confinement.service';
import { computeDriverName } from '../compute-support';

/** The compute drivers this worker can use. */
@Injectable()
export class Drivers {
  private readonly local: ComputeDriver | null;

  constructor(
    { compute: { local } }: Config,
    private readonly localConfinement: LocalConfinementService,
  ) {
    // Compiled beside this file's tree: dist/src/… and dist/libs/….
    const agentEntry = join(__dirname, '..', '..', '..', '..', 'libs', 'node-agent', 'main.js');
    this.local = local && new LocalDriver({ ...local, confinement: localConfinement.confinement, agentEntry });
  }

  /** Whether the driver's nodes isolate different tenants from each other. */
  keepTenantsApart(driver: ComputeDriver): boolean {
    return driver !== this.local || this.localConfinement.keepsApart;
  }

  /** The driver of a cloud environment; throws `PermanentError` when there is none. */
  forEnvironment(cloudProviderId: number, endpoint: string | null): ComputeDriver {
    const name = computeDriverName(cloudProviderId, endpoint);
    if (name === null)
      throw new PermanentError('This release has no compute driver for the cloud provider of the cluster.');
    if (!this.local)
      throw new PermanentError('The local compute driver is not enabled on this worker (COMPUTE_LOCAL_ENABLED).');
    return this.local;
  }

  /** Whether this worker can manage nodes of the environment; if not, another pod may. */
  serves(cloudProviderId: number, endpoint: string | null): boolean {
    return computeDriverName(cloudProviderId, endpoint) !== null && this.local !== null;
  }

  /** Drivers all of whose nodes we must account for. */
  all(): ComputeDriver[] {
    return this.local ? [this.local] : [];
  }
}
