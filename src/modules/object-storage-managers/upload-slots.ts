import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { DomainError } from '../../platform/errors/domain-error';

const RETRY_AFTER_SECONDS = 10;

/**
 * Bounds the uploads under way, and so the memory of the process. One too many is refused rather than kept waiting: a
 * client whose bytes nobody takes runs into time limits of its own and of the proxies in between.
 */
@Injectable()
export class UploadSlots {
  private taken = 0;
  private readonly limit: number;

  constructor(config: Config) {
    this.limit = config.storage.objectStoreMaxUploads;
  }

  async run<T>(upload: () => Promise<T>): Promise<T> {
    if (this.taken >= this.limit) {
      throw new DomainError(
        'rate-limited',
        'OBJECT_STORAGE.TOO_MANY_UPLOADS',
        `As many uploads as this server takes at once (${this.limit}) are under way. Send it again in some seconds.`,
        { retry_after_seconds: RETRY_AFTER_SECONDS },
      );
    }
    this.taken += 1;
    try {
      return await upload();
    } finally {
      this.taken -= 1;
    }
  }
}
