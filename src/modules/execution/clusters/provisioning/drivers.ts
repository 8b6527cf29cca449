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

/** The compute drivers this worker can use; `compute-support.ts` says what each is for. */
@Injectable()
export class Drivers {
  private readonly registered: Readonly<Record<ComputeDriverName, DriverRegistration>>;
  private readonly made = new Map<ComputeDriverName, Promise<ComputeDriver>>();

  constructor(
    config: Config,
    localConfinement: LocalConfinementService,
    localFolder: LocalFolderService,
    clouds: CloudRegistrations,
  ) {
    const { azure, azureAuthority: authority, google, oci, ec2 } = config.compute.clouds;
    this.registered = {
      local: localRegistration(config, localConfinement, localFolder),
      aws: clouds.of(ec2, (options) => Promise.resolve(new (awsModule().AwsDriver)(options))),
      proxmox: clouds.of(null, ({ bootScript, outbound }) => {
        const connections = new ProxmoxConnections(outbound, config.compute.onPremTrust);
        return Promise.resolve(new ProxmoxDriver({ bootScript, connections }));
      }),
      azure: clouds.of(azure, (options) => Promise.resolve(new (azureModule().AzureDriver)({ ...options, authority }))),
      google: clouds.of(google, (options) => Promise.resolve(new (googleModule().GoogleDriver)(options))),
      oci: clouds.of(oci, (options) => Promise.resolve(new (ociModule().OciDriver)(options))),
    };
  }

  /** Whether the nodes of the environment isolate different tenants from each other. */
  keepTenantsApart(cloudProviderId: number, endpoint: string | null): boolean {
    const name = computeDriverName(cloudProviderId, endpoint);
    return name !== null && this.registered[name].keepsTenantsApart;
  }

  /**
   * The driver of a cloud environment. Throws a `PermanentError` if there is none, and an `ElsewhereError` while only
   * another worker can use it.
   */
  async forEnvironment(cloudProviderId: number, endpoint: string | null): Promise<ComputeDriver> {
    const name = computeDriverName(cloudProviderId, endpoint);
    if (name === null)
      throw new PermanentError('This release has no compute driver for the cloud provider of the cluster.');
    const disabled = this.registered[name].disabled();
    if (disabled === null) return this.driver(name);
    throw (await this.registered[name].isHeldElsewhere?.())
      ? new ElsewhereError(disabled)
      : new PermanentError(disabled);
  }

  /** Throws `PermanentError` where machines of the environment would never reach the platform. */
  assertNotCutOff(cloudProviderId: number, endpoint: string | null): void {
    const name = computeDriverName(cloudProviderId, endpoint);
    const cutOff = name === null ? null : this.registered[name].cutOff(endpoint);
    if (cutOff !== null) throw new PermanentError(cutOff);
  }

  /** Whether this worker can manage nodes of the environment; if not, another pod may. */
  serves(cloudProviderId: number, endpoint: string | null): boolean {
    const name = computeDriverName(cloudProviderId, endpoint);
    return name !== null && this.registered[name].disabled() === null;
  }

  /** Drivers that reach all of their nodes without anybody's credentials. */
  async withoutCredentials(): Promise<ComputeDriver[]> {
    return this.registered.local.disabled() === null ? [await this.driver('local')] : [];
  }

  private driver(name: ComputeDriverName): Promise<ComputeDriver> {
    const kept = this.made.get(name);
    if (kept) return kept;
    const made = this.registered[name].make();
    this.made.set(name, made);
    // What failed once, such as an agent that was not built yet, is tried again with the next call.
    made.catch(() => this.made.delete(name));
    return made;
  }
}

function localRegistration(
  { agent: { apiUrl: agentApiUrl }, compute: { local } }: Config,
  localConfinement: LocalConfinementService,
  localFolder: LocalFolderService,
): DriverRegistration {
  return {
    disabled: () => localFolder.problem,
    isHeldElsewhere: () => localFolder.isHeldElsewhere(),
    cutOff: () => null,
    keepsTenantsApart: localConfinement.isolatesTenants,
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
