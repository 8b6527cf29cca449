import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type * as AwsModule from '../../../../../libs/compute-drivers/aws/aws-driver';
import type * as AzureModule from '../../../../../libs/compute-drivers/azure/azure-driver';
import { type ComputeDriver, ElsewhereError } from '../../../../../libs/compute-drivers/compute-driver';
import type * as GoogleModule from '../../../../../libs/compute-drivers/google/google-driver';
import { LocalDriver } from '../../../../../libs/compute-drivers/local/local-driver';
import type * as OciModule from '../../../../../libs/compute-drivers/oci/oci-driver';
import { ProxmoxConnections } from '../../../../../libs/compute-drivers/proxmox/proxmox-connections';
import { ProxmoxDriver } from '../../../../../libs/compute-drivers/proxmox/proxmox-driver';
import { Config } from '../../../../config/config';
import { PermanentError } from '../../../../platform/background/workflows/workflow-definition';
import { LocalConfinementService, LocalFolderService } from '../../../infrastructure/environments';
import { type ComputeDriverName, computeDriverName } from '../model/compute-support';
import { CloudRegistrations } from './cloud-registrations';
import type { DriverRegistration } from './driver-registration';

/* eslint-disable @typescript-eslint/no-require-imports -- An SDK is loaded with the first machine of its provider: that takes
   long, and most workers never do. */
const awsModule = () => require('../../../../../libs/compute-drivers/aws/aws-driver') as typeof AwsModule;
const azureModule = () => require('../../../../../libs/compute-drivers/azure/azure-driver') as typeof AzureModule;
const googleModule = () => require('../../../../../libs/compute-drivers/google/google-driver') as typeof GoogleModule;
const ociModule = () => require('../../../../../libs/compute-drivers/oci/oci-driver') as typeof OciModule;
/* eslint-enable @typescript-eslint/no-require-imports */

/** The compute drivers of this worker. `compute-support.ts` lists the environments that each one serves. */
@Injectable()
export class Drivers {
  private readonly registered: Readonly<Record<ComputeDriverName, DriverRegistration>>;
  private readonly drivers = new Map<ComputeDriverName, Promise<ComputeDriver>>();

  constructor(
    config: Config,
    localConfinement: LocalConfinementService,
    localFolder: LocalFolderService,
    clouds: CloudRegistrations,
  ) {
    const { azure, azureAuthority: authority, google, oci, ec2 } = config.compute.clouds;
    this.registered = {
      local: localRegistration(config, localConfinement, localFolder),
      aws: clouds.registrationOf(ec2, (options) => Promise.resolve(new (awsModule().AwsDriver)(options))),
      proxmox: clouds.registrationOf(null, ({ bootScript, outbound }) => {
        const connections = new ProxmoxConnections(outbound, config.compute.onPremTrust);
        return Promise.resolve(new ProxmoxDriver({ bootScript, connections }));
      }),
      azure: clouds.registrationOf(azure, (options) =>
        Promise.resolve(new (azureModule().AzureDriver)({ ...options, authority })),
      ),
      google: clouds.registrationOf(google, (options) => Promise.resolve(new (googleModule().GoogleDriver)(options))),
      oci: clouds.registrationOf(oci, (options) => Promise.resolve(new (ociModule().OciDriver)(options))),
    };
  }

  isolateTenants(cloudProviderId: number, endpoint: string | null): boolean {
    const name = computeDriverName(cloudProviderId, endpoint);
    return name !== null && this.registered[name].isolatesTenants;
  }

  /**
   * Returns the driver of a cloud environment. Throws a `PermanentError` if this release has none, and an `ElsewhereError`
   * while only another worker can use it.
   */
  async forEnvironment(cloudProviderId: number, endpoint: string | null): Promise<ComputeDriver> {
    const name = computeDriverName(cloudProviderId, endpoint);
    if (name === null)
      throw new PermanentError('This release has no compute driver for the cloud provider of the cluster.');
    const disabled = this.registered[name].disabledReason();
    if (disabled === null) return this.driver(name);
    throw (await this.registered[name].isHeldElsewhere?.())
      ? new ElsewhereError(disabled)
      : new PermanentError(disabled);
  }

  /** Throws a `PermanentError` if machines of the environment could never reach the platform. */
  assertReachable(cloudProviderId: number, endpoint: string | null): void {
    const name = computeDriverName(cloudProviderId, endpoint);
    const unreachableReason = name === null ? null : this.registered[name].unreachableReason(endpoint);
    if (unreachableReason !== null) throw new PermanentError(unreachableReason);
  }

  /** True if this worker can manage nodes of the environment. If not, another one may. */
  serves(cloudProviderId: number, endpoint: string | null): boolean {
    const name = computeDriverName(cloudProviderId, endpoint);
    return name !== null && this.registered[name].disabledReason() === null;
  }

  async withoutCredentials(): Promise<ComputeDriver[]> {
    return this.registered.local.disabledReason() === null ? [await this.driver('local')] : [];
  }

  private driver(name: ComputeDriverName): Promise<ComputeDriver> {
    const kept = this.drivers.get(name);
    if (kept) return kept;
    const created = this.registered[name].make();
    this.drivers.set(name, created);
    // The next call tries again after a failure, such as an agent bundle that is not built yet.
    created.catch(() => this.drivers.delete(name));
    return created;
  }
}

function localRegistration(
  { agent: { apiUrl: agentApiUrl }, compute: { local } }: Config,
  localConfinement: LocalConfinementService,
  localFolder: LocalFolderService,
): DriverRegistration {
  return {
    disabledReason: () => localFolder.problem,
    isHeldElsewhere: () => localFolder.isHeldElsewhere(),
    unreachableReason: () => null,
    isolatesTenants: localConfinement.isolatesTenants,
    make() {
      if (!local) return Promise.reject(new Error(localFolder.problem ?? 'Local nodes are not configured.'));
      // Compiled beside this file's tree: dist/src/… and dist/libs/….
      const agentEntry = join(__dirname, '..', '..', '..', '..', '..', 'libs', 'node-agent', 'main.js');
      return Promise.resolve(
        new LocalDriver({ ...local, confinement: localConfinement.confinement, agentApiUrl, agentEntry }),
      );
    },
  };
}
