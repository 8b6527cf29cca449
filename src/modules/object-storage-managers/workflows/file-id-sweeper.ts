import { Injectable } from '@nestjs/common';
import { AgedRowSweeper } from '../../../platform/workflows/aged-row-sweeper';
import { ENDED_FILES } from '../object-storage-files.repository';

/** Removes the ids of files that were deleted long ago, themselves or with their manager. */
@Injectable()
export class FileIdSweeper extends AgedRowSweeper {
  readonly name = 'object-storage-files';
  protected readonly sources = ENDED_FILES;
}
