import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import { BlobUse } from '../blob-use';
import { WorkspaceFilesService } from '../workspace-files.service';

/** Removes bytes that no file needs any longer, left by deleted files, replaced files and interrupted uploads. */
@Injectable()
export class FileSweeper extends Reconciler {
  readonly name = 'workspace-files';
  readonly intervalMs = 60 * 60_000;
  readonly deadlineMs = 10 * 60_000;

  constructor(
    private readonly files: WorkspaceFilesService,
    private readonly use: BlobUse,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async reconcile(): Promise<void> {
    const removed = await this.files.sweep(this.use);
    if (removed > 0) this.logger.info({ removed }, 'Removed unused blobs of workspace files');
  }
}
