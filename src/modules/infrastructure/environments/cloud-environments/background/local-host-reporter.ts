import { Inject, Injectable } from '@nestjs/common';
import { HostMeter } from '../../../../../../libs/compute-drivers/local/host-meter';
import { Config } from '../../../../../config/config';
import { LOGGER, type Logger } from '../../../../../platform/kernel/logging/logger';
import { Pump } from '../../../../../platform/kernel/process/pump';
import { LocalConfinementService } from '../local-confinement.service';
import { LocalFolderService } from '../local-folder.service';
import { LocalHostsRepository } from '../local-hosts.repository';

/** The second report comes early, because CPU usage can only be measured between two reports. */
const SECOND_REPORT_DELAY_MS = 1000;
const REPORT_INTERVAL_MS = 10_000;

/**
 * Reports the resources of a worker's machine that runs local nodes, since the API may run elsewhere. It is not a
 * reconciler: only one worker at a time runs those, and a pass may take minutes.
 */
@Injectable()
export class LocalHostReporter {
  private reports: Pump | null = null;

  constructor(
    private readonly config: Config,
    private readonly hosts: LocalHostsRepository,
    private readonly confinement: LocalConfinementService,
    private readonly folder: LocalFolderService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves after the first report, because the API needs to know whether this worker isolates tenants. */
  async start(): Promise<void> {
    const { local } = this.config.compute;
    if (!local) return;
    const meter = new HostMeter(local.dir);
    const versions = [...Object.keys(local.sparks), ...(local.sparkInstaller?.versions ?? [])];
    this.reports = new Pump(() => this.report(meter, versions), {
      intervalMs: REPORT_INTERVAL_MS,
      failed: (error) =>
        this.logger.warn({ err: error }, 'The resources of this machine could not be reported; the worker retries'),
    });
    await this.reports.run();
    this.reports.wake(SECOND_REPORT_DELAY_MS);
  }

  async stop(): Promise<void> {
    await this.reports?.stop();
  }

  private async report(meter: HostMeter, sparkVersions: readonly string[]): Promise<void> {
    // Only the worker that holds the folder of local nodes reports the machine.
    if (this.folder.problem !== null) return;
    await this.hosts.report(await meter.measure(), this.confinement.isolatesTenants, sparkVersions);
  }
}
