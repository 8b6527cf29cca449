import { Inject, Injectable } from '@nestjs/common';
import { HostMeter } from '../../../../../../libs/compute-drivers/local/host-meter';
import { Config } from '../../../../../config/config';
import { LOGGER, type Logger } from '../../../../../platform/kernel/logging/logger';
import { Pump } from '../../../../../platform/kernel/process/pump';
import { LocalConfinementService } from '../local-confinement.service';
import { LocalFolderService } from '../local-folder.service';
import { LocalHostsRepository } from '../local-hosts.repository';

/** The second report comes sooner: only it can tell how busy the processors are. */
const SECOND_REPORT_MS = 1000;
const REPORT_MS = 10_000;

/**
 * Reports the machine of a worker that runs local nodes: the API is elsewhere and cannot look. Separate from the
 * reconcilers, since only one worker at a time runs a pass of those, which may take minutes.
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

  /** Resolves after the first report: the API asks whether tenants are kept apart as soon as this worker serves anything. */
  async start(): Promise<void> {
    const { local } = this.config.compute;
    if (!local) return;
    const meter = new HostMeter(local.dir);
    this.reports = new Pump(() => this.report(meter, Object.keys(local.sparkHomes)), {
      intervalMs: REPORT_MS,
      failed: (error) =>
        this.logger.warn({ err: error }, 'The resources of this machine could not be reported; trying again'),
    });
    await this.reports.run();
    this.reports.wake(SECOND_REPORT_MS);
  }

  async stop(): Promise<void> {
    await this.reports?.stop();
  }

  private async report(meter: HostMeter, sparkVersions: readonly string[]): Promise<void> {
    // The worker that holds the folder reports the machine.
    if (this.folder.problem !== null) return;
    await this.hosts.report(await meter.measure(), this.confinement.keepsApart, sparkVersions);
  }
}
