import 'reflect-metadata';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApi } from './create-api';
import { packageVersion } from './modules/health/health.service';
import { createOpenApiDocument } from './platform/http/openapi';
import { failProcess } from './platform/process/fail-process';

const FILE = join(__dirname, '..', '..', 'openapi.json');

/** Writes openapi.json, or with `--check` says whether it is what this build serves. */
async function main(): Promise<void> {
  const app = await createApi({ preview: true, maxJsonBytes: 1024, trustedProxies: 0 });
  const text = `${JSON.stringify(createOpenApiDocument(app, packageVersion()), null, 2)}\n`;
  if (!process.argv.includes('--check')) {
    writeFileSync(FILE, text);
    return;
  }
  let committed = '';
  try {
    committed = readFileSync(FILE, 'utf8');
  } catch {
    // An absent file differs like any other.
  }
  if (committed === text) return;
  process.stderr.write('openapi.json is not what this build serves. Run: npm run build && npm run openapi\n');
  process.exit(1);
}

main().then(() => process.exit(0), failProcess);
