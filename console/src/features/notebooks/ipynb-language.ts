import type { NotebookType } from 'managed-spark/types';
import { textOf } from './outputs';

interface Named {
  metadata?: { kernelspec?: { language?: unknown; name?: unknown } };
}

/** Returns the language that an .ipynb file names; Python if it names none. The server explains what is wrong with any other file. */
export async function languageIn(file: Blob): Promise<NotebookType> {
  const content = (await new Response(file).json().catch(() => null)) as Named | null;
  const { language, name } = content?.metadata?.kernelspec ?? {};
  const named = textOf(language ?? name).toLowerCase();
  return (['scala', 'sql'] as const).find((known) => named.includes(known)) ?? 'python3';
}
