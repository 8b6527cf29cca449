import { invalid } from '../../../platform/kernel/errors/domain-error';

/** The last line of a page: the value of the order, a decimal as text, and the id that decides between equal ones. */
export interface CostPosition {
  key: string;
  id: number;
}

export function encodeCostPosition(part: string, { key, id }: CostPosition): string {
  return Buffer.from(`${part} ${key} ${id}`).toString('base64url');
}

/** Reads a text of {@link encodeCostPosition}. Throws a 400 if it is none, or belongs to costs that are divided otherwise. */
export function decodeCostPosition(part: string, text: string): CostPosition {
  const [, named, key = '', id] =
    /^(\w+) (\d{1,24}(?:\.\d{1,24})?) (\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (named === part) return { key, id: Number(id) };
  throw invalid(
    'REQUEST.INVALID',
    'after does not continue costs that are divided like this. Send the `next` of the page before with the same `by`, or leave it out.',
    { after: text },
  );
}
