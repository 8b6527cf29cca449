import { type DomainError, invalid } from '../errors/domain-error';
import type { Unusable } from '../../../../libs/json/strict-json';

/** How many problems of one request an answer lists: the caller fixes them and sends it again. */
const MAX_PROBLEMS = 20;
/** Names of fields come from the request, too. */
const MAX_NAME = 64;

/** A field by its path, cut short where the request made it long. */
export function shownName(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`;
}

/** Collects what is wrong with a request, as far as the answer will report it. */
export class Problems {
  private readonly ofField: [string, string[]][] = [];

  /** Whether no further problem would be listed. */
  get isFull(): boolean {
    return this.ofField.length >= MAX_PROBLEMS;
  }

  get any(): boolean {
    return this.ofField.length > 0;
  }

  add(field: string, texts: string[]): void {
    if (!this.isFull) this.ofField.push([shownName(field), texts]);
  }

  addUnknown(field: string): void {
    this.add(field, [`${shownName(field)} is not a known field`]);
  }

  /** A 400 that lists them in its sentence, and by field in its details. */
  error(): DomainError {
    const sentence = this.ofField.flatMap(([, texts]) => texts).join('; ');
    const fields = Object.fromEntries(this.ofField);
    return invalid('REQUEST.INVALID', `The request is not valid: ${sentence}.`, { fields });
  }
}

/** The refusal of a field that does not exist under this name. */
export function unknownField(field: string): DomainError {
  const problems = new Problems();
  problems.addUnknown(field);
  return problems.error();
}

/** The refusal of a request with something that no operation can store. */
export function unusable({ why, of }: Unusable): DomainError {
  switch (why) {
    case 'key':
      return invalid('REQUEST.INVALID', `The request is not valid: no key may be called ${of}.`, { key: of });
    case 'text': {
      const text = `${shownName(of)} contains half of a surrogate pair, which is not a character.`;
      return invalid('REQUEST.INVALID_TEXT', text);
    }
  }
}
