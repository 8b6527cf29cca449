/** A run that cannot be submitted as it is described; the message is for people. */
export class SubmitError extends Error {}
