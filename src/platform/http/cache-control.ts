/** For an address that contains a hash of its content, so a client needs to ask only once. */
export const UNCHANGING = 'public, max-age=31536000, immutable';
/** A client keeps its copy, and asks whether it is current. */
export const ASK_AGAIN = 'no-cache';
