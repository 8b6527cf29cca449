import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LocalFolder } from '../../../../../libs/compute-drivers/local/local-folder';
import { Config } from '../../../../config/config';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { pause } from '../../../../platform/kernel/process/pause';
import { LocalHostsRepository } from './local-hosts.repository';

const RETRY_INTERVAL_MS = 500;

const DISABLED = 'Local nodes are not enabled on this worker: COMPUTE_LOCAL_ENABLED is not set.';
const NOT_YET = 'This worker has not locked its folder of local nodes yet.';

/**
 * Locks the folder of local nodes for the lifetime of this worker. If several workers share a folder, only the one that
 * holds the lock has local nodes; another takes over when it stops.
 */
@Injectable()
export class LocalFolderService {
  /** The reason this worker has no local nodes, as a sentence; null if it has them. */
  problem: string | null;
  private readonly folder: LocalFolder | null;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private unlock: (() => Promise<void>) | null = null;
  private isLockedByAnother = false;

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

  /** Resolves after the first attempt. Retries until the folder is locked, and again if the lock is lost. */
  async start(): Promise<void> {
    const { folder } = this;
    if (!folder) return;
    await this.tryLock(folder);
    this.running = this.retry(folder);
  }

  /** Unlocks the folder. Call this only when nothing uses it any more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.unlock?.();
  }

  /** The reason enabled local nodes are unavailable; null if they are available or not enabled. */
  get failure(): string | null {
    return this.folder && this.problem;
  }

  /** True if another worker is known to have local nodes. */
  async isHeldElsewhere(): Promise<boolean> {
    return this.isLockedByAnother || (await this.hosts.hasRecentReport(this.dataSource.manager));
  }

  private async retry(folder: LocalFolder): Promise<void> {
    while (await pause(RETRY_INTERVAL_MS, this.stopping.signal)) if (this.unlock === null) await this.tryLock(folder);
  }

  private async tryLock(folder: LocalFolder): Promise<void> {
    const { dir } = folder;
    try {
      this.unlock = await folder.tryLock(() => this.onLockLost(dir));
      this.isLockedByAnother = this.unlock === null;
      if (this.isLockedByAnother) return this.fail(dir, `Another worker has locked the folder of local nodes ${dir}.`);
      this.problem = null;
      this.logger.info({ dir }, 'This worker has locked its folder of local nodes');
    } catch (error) {
      this.isLockedByAnother = false;
      this.fail(dir, messageOf(error));
    }
  }

  private onLockLost(dir: string): void {
    this.unlock = null;
    this.fail(dir, `The lock of the folder of local nodes ${dir} was lost.`);
  }

  /** Logs each reason once. */
  private fail(dir: string, reason: string): void {
    if (reason !== this.problem)
      this.logger.warn({ dir, reason }, 'This worker has no local nodes: it cannot lock their folder and keeps trying');
    this.problem = reason;
  }
}
