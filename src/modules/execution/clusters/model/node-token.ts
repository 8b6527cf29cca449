const NODE_TOKEN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether it has the form of the tokens that this platform gives to nodes. What stands in a label may be anything. */
export function isNodeToken(text: string): boolean {
  return NODE_TOKEN.test(text);
}
