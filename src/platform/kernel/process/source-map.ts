import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { parseTrusted } from '../../../../libs/json/parse-json';

/**
 * Makes stack traces name lines of the sources instead of lines of the bundle. The map is read when the first trace is
 * written: Node's --enable-source-maps reads it at the start, which takes 0.3 s and 100 MB.
 * @param bundle path of the bundle, which has its map beside it
 */
export function useSourceMap(bundle: string): void {
  let map: SourceMap | null | undefined;
  Error.prepareStackTrace = (error: Error, frames: (NodeJS.CallSite & { toString(): string })[]) => {
    const head = headOf(error);
    // Node itself reads the trace of the abort that ends a request. No person reads it, so it is not worth loading the map.
    const isAbort = head.startsWith('AbortError');
    const lines = frames.map((frame) => {
      const text = frame.toString();
      const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
      if (isAbort || frame.getFileName() !== bundle || line === null || column === null) return text;
      if (map === undefined) map = readMap(`${bundle}.map`);
      const origin = map?.findOrigin(line, column);
      if (!origin || !('fileName' in origin)) return text;
      const source = `${resolve(dirname(bundle), origin.fileName)}:${origin.lineNumber}`;
      return text.replace(`${bundle}:${line}:${column}`, source);
    });
    return [head, ...lines.map((line) => `    at ${line}`)].join('\n');
  };
}

/** Returns null if the map cannot be read: a trace of compiled lines is better than none. */
function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(parseTrusted<ConstructorParameters<typeof SourceMap>[0]>(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

/** Returns the first line of a trace, although reading `name` or `message` of an error may throw. */
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
