import 'reflect-metadata';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { EnvReader } from './config/env-reader';
import { readHttpConfig } from './config/http.config';
import { createApi } from './create-api';
import { packageVersion } from './platform/http/health/health.service';
import { accessSnapshot } from './platform/http/access-snapshot';
import { declaredOperations } from './platform/http/boot-checks';
import { createOpenApiDocument } from './platform/http/openapi';
import { type Descriptions, descriptionsOf } from './platform/http/assert-described';
import { failProcess } from './platform/kernel/process/fail-process';

const ROOT = join(__dirname, '..', '..');

/**
 * Writes openapi.json and docs/access.md. With `--check`, it only compares them with this build and fails if they are stale.
 * With `--count`, it only prints how many parts of the document have a description.
 */
async function main(): Promise<void> {
  const app = await createApi({ preview: true, http: readHttpConfig(new EnvReader({})) });
  // A preview has modules and classes but no providers, so these are created here.
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const operations = declaredOperations(discovery, new MetadataScanner(), new Reflector());
  const document = createOpenApiDocument(app, packageVersion());
  if (process.argv.includes('--count')) {
    process.stdout.write(descriptionsOf(document).map(countOf).join(''));
    return;
  }
  const files = {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'docs/access.md': accessSnapshot(operations),
  };
  const stale = Object.entries(files).filter(([file, text]) => committed(file) !== text);
  if (!process.argv.includes('--check')) {
    for (const [file, text] of stale) writeFileSync(join(ROOT, file), text);
    return;
  }
  if (stale.length === 0) return;
  const names = stale.map(([file]) => file).join(' and ');
  process.stderr.write(`Stale: ${names}. Run: npm run build && npm run openapi\n`);
  process.exit(1);
}

/** Returns a line such as `property: 2474 of 2474 described`. */
function countOf({ kind, parts }: Descriptions): string {
  return `${kind}: ${parts.filter(({ isDescribed }) => isDescribed).length} of ${parts.length} described\n`;
}

/** Returns the committed text. A missing file counts as different. */
function committed(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}

main().then(() => process.exit(0), failProcess);
