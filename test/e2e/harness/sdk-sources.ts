import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
/** Folders that builds and installations make. */
const MADE = /\/(generated|_generated|_sync|dist|node_modules|__pycache__)$/;

/** Copies the sources of an SDK with the document that it is made from, so that its build needs no file of the repository. */
export function copySdk(language: 'python' | 'typescript', target: string): void {
  cpSync(join(ROOT, 'sdk', language), target, { recursive: true, filter: (path) => !MADE.test(path) });
  copyFileSync(join(ROOT, 'openapi.json'), join(target, 'openapi.json'));
}
