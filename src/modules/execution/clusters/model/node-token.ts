const NODE_TOKEN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True if a text has the form of this platform's node tokens. A label may hold any text. */
export function isNodeToken(text: string): boolean {
  return NODE_TOKEN.test(text);
}
