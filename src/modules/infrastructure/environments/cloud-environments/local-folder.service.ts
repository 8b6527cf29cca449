import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LocalFolder } from '../../../../../libs/compute-drivers/local/local-folder';
import { Config } from '../../../../config/config';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { pause } from '../../../../platform/kernel/process/pause';
import { LocalHostsRepository } from './local-hosts.repository';

/** How often a worker without its folder tries to take it, milliseconds. */
const RETRY_MS = 500;

const DISABLED = 'This worker has no local nodes: COMPUTE_LOCAL_ENABLED is not set.';
const NOT_YET = 'This worker has not taken its folder of local nodes yet.';

/**
 * Takes the folder of local nodes for this worker's whole life. If several workers are given the same folder, one at a time has
 * local nodes, and another takes over when it ends.
 */
@Injectable()
export class LocalFolderService {
  /** What keeps this worker from local nodes; null if nothing does. */
  problem: string | null;
  private readonly folder: LocalFolder | null;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private giveBack: (() => Promise<void>) | null = null;
  private isWithAnother = false;

  constructor(
    config: Config,
    private readonly dataSource: DataSource,
    private readonly hosts: LocalHostsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { local } = config.compute;
    this.folder = local && new LocalFolder(local.dir);
    this.problem = local ? NOT_YET : DISABLED;
  }

  /** Resolves after the first attempt; others follow until the folder is taken, and again if it is lost. */
  async start(): Promise<void> {
    const { folder } = this;
    if (!folder) return;
    await this.tryToTake(folder);
    this.running = this.repeat(folder);
  }

  /** Gives the folder back. Must be called only when nothing uses it any more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.giveBack?.();
  }

  /** Why this worker cannot serve the local nodes that it is configured to have; null if it can. */
  get lack(): string | null {
    return this.folder && this.problem;
  }

  /** Whether another worker has local nodes, as far as is known. */
  async isElsewhere(): Promise<boolean> {
    return this.isWithAnother || (await this.hosts.haveReported(this.dataSource.manager));
  }

  private async repeat(folder: LocalFolder): Promise<void> {
    while (await pause(RETRY_MS, this.stopping.signal)) if (this.giveBack === null) await this.tryToTake(folder);
  }

  private async tryToTake(folder: LocalFolder): Promise<void> {
    const { dir } = folder;
    try {
      this.giveBack = await folder.tryTake(() => this.lose(dir));
      this.isWithAnother = this.giveBack === null;
      if (this.isWithAnother) return this.goWithout(dir, `Another worker holds the folder of local nodes ${dir}.`);
      this.problem = null;
      this.logger.info({ dir }, 'This worker holds its folder of local nodes');
    } catch (error) {
      this.isWithAnother = false;
      this.goWithout(dir, messageOf(error));
    }
  }

  private lose(dir: string): void {
    this.giveBack = null;
    this.goWithout(dir, `The lock of the folder of local nodes ${dir} was lost.`);
  }

  /** Logs each reason once. */
  private goWithout(dir: string, reason: string): void {
    if (reason !== this.problem)
      this.logger.warn({ dir, reason }, 'This worker has no local nodes: it cannot take its folder, and keeps trying');
    this.problem = reason;
  }
}
