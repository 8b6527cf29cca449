import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';
import { WorkspaceFilesService } from '../workspace-files.service';

const EVERY_MS = 60 * 60_000;

/** Removes bytes that no file needs any more: of deleted and replaced files and of uploads that broke off. */
@Injectable()
export class FileSweeper implements Reconciler {
  readonly name = 'workspace-files';
  private nextAt = 0;

  constructor(
    private readonly files: WorkspaceFilesService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async reconcile(): Promise<void> {
    if (Date.now() < this.nextAt) return;
    this.nextAt = Date.now() + EVERY_MS;
    const removed = await this.files.sweep();
    if (removed > 0) this.logger.info({ removed }, 'Removed bytes that no file needs');
  }
}
