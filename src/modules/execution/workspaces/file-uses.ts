import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { FileUse, type TakesIn, type UploadedContent, type WorkspaceFileRow } from './file-use';

/** Asks all domains that use files of workspaces. */
@Injectable()
export class FileUses implements OnModuleInit {
  private uses: readonly FileUse[] = [];

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    this.uses = this.discovery
      .getProviders()
      .map(({ instance }): unknown => instance)
      .filter((instance) => instance instanceof FileUse);
  }

  /** What an upload to a file means to whoever uses it; null if nobody does. */
  async read(scope: TenantScope, file: WorkspaceFileRow | null, content: UploadedContent): Promise<TakesIn | null> {
    if (!file) return null;
    for (const use of this.uses) {
      const takesIn = await use.read(scope, file, content);
      if (takesIn) return takesIn;
    }
    return null;
  }

  async assertUnused(tx: Tx, file: WorkspaceFileRow): Promise<void> {
    for (const use of this.uses) await use.assertUnused(tx, file);
  }

  async assertMayMove(tx: Tx, file: WorkspaceFileRow, path: string): Promise<void> {
    for (const use of this.uses) await use.assertMayMove(tx, file, path);
  }
}
