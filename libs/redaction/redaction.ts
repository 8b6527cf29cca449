/** Stands in the place of a secret, in logs and in the audit log. */
export const HIDDEN = '[secret]';

/** Names whose values are secrets: those that Spark redacts, those of the keys of object stores, and other common ones. */
const SECRET_NAME =
  'secret|passw(?:or)?d|passphrase|token|credential|(?:access|account|api|private|encryption)[._-]?key|(?<![a-z])(?:pass|pwd|sas)(?![a-z])';
const VALUE = String.raw`("[^"]*"|'[^']*'|[^\s"',;)}\]]+)`;
const QUOTED = String.raw`("[^"]*"|'[^']*')`;

const NAMES_SECRET = new RegExp(SECRET_NAME, 'i');

/** Places in a text where a secret may stand, each after what is kept. */
const PLACES: readonly RegExp[] = [
  // password=…, "token": "…", conf.set("access.key", "…")
  new RegExp(String.raw`((?:${SECRET_NAME})[\w.-]*["']?\s*(?:=>?|:|,)\s*)${VALUE}`, 'gi'),
  // --password …
  new RegExp(String.raw`(-[\w-]*(?:${SECRET_NAME})[\w-]*\s+)${VALUE}`, 'gi'),
  // IDENTIFIED BY PASSWORD '…'
  new RegExp(String.raw`((?:${SECRET_NAME})[\w.-]*["']?\s+)${QUOTED}`, 'gi'),
  // Authorization: Bearer …
  /(\b(?:Bearer|Basic)\s+)([^\s"']+)/gi,
  // https://user:…@host
  /(:\/\/[^/\s:@]*:)([^/\s@]*)(?=@)/g,
  // A JSON Web Token, as sessions of the platform have it.
  /()(\beyJ[\w-]+\.[\w-]+\.[\w-]+)/g,
];

/** True if the value of a property, variable or field with this name is a secret. */
export function namesSecret(name: string): boolean {
  return NAMES_SECRET.test(name);
}

/** True if the text is a URL with a password. */
export function hasPassword(text: string): boolean {
  return /:\/\/[^/\s]*:[^/\s]*@/.test(text);
}

/** Returns the text with {@link HIDDEN} in place of what looks like a secret. Its time grows with the square of the text's length. */
export function withoutSecretsInText(text: string): string {
  return PLACES.reduce((kept, place) => kept.replaceAll(place, (_found, before: string) => before + HIDDEN), text);
}
