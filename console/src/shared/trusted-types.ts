interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): unknown;
}

/**
 * The server forbids to make markup of texts (`require-trusted-types-for`), except by this policy. React uses it for the texts of
 * style sheets only, which have no `<`; whatever has one is refused, so that no text can become an element.
 */
export function refuseMarkup(): void {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  types?.createPolicy('default', {
    createHTML(text) {
      if (text.includes('<')) throw new TypeError('A text with markup was about to become a part of the page');
      return text;
    },
  });
}
