import { type DomainError, invalid } from '../errors/domain-error';
import type { Unusable } from '../../../../libs/json/strict-json';

/** Problems that one response lists at most: the caller fixes them and sends the request again. */
const MAX_PROBLEMS = 20;
/** The request chooses the names of unknown fields, so they are cut to this length. */
const MAX_NAME = 64;

/** Returns the path of a field, cut to {@link MAX_NAME} characters. */
export function shownName(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`;
}

/** Collects the problems of a request that the response will list. */
export class Problems {
  private readonly byField: [string, string[]][] = [];

  /** True if no further problem would be listed. */
  get isFull(): boolean {
    return this.byField.length >= MAX_PROBLEMS;
  }

  get any(): boolean {
    return this.byField.length > 0;
  }

  add(field: string, texts: string[]): void {
    if (!this.isFull) this.byField.push([shownName(field), texts]);
  }

  addUnknown(field: string): void {
    this.add(field, [`${shownName(field)} is not a known field`]);
  }

  /** Returns a 400 that lists the problems in its message, and by field in its details. */
  error(): DomainError {
    const sentence = this.byField.flatMap(([, texts]) => texts).join('; ');
    const fields = Object.fromEntries(this.byField);
    return invalid('REQUEST.INVALID', `The request is not valid: ${sentence}.`, { fields });
  }
}

/** Returns the 400 for a field that no request has. */
export function unknownField(field: string): DomainError {
  const problems = new Problems();
  problems.addUnknown(field);
  return problems.error();
}

/** Returns the 400 for a request with a key or a text that cannot be stored. */
export function unusable({ why, of }: Unusable): DomainError {
  switch (why) {
    case 'key':
      return invalid('REQUEST.INVALID', `The request is not valid: a key must not be named ${of}.`, { key: of });
    case 'text': {
      const text = `${shownName(of)} contains half of a surrogate pair. Send well-formed Unicode.`;
      return invalid('REQUEST.INVALID_TEXT', text);
    }
  }
}
