import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { FileUse, type ApplyUpload, type UploadedContent, type WorkspaceFileRow } from './file-use';

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

  /** Reads an upload for the domain that uses the file; null if none does. */
  async read(scope: TenantScope, file: WorkspaceFileRow | null, content: UploadedContent): Promise<ApplyUpload | null> {
    if (!file) return null;
    for (const use of this.uses) {
      const applyUpload = await use.read(scope, file, content);
      if (applyUpload) return applyUpload;
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
