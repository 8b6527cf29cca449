/** Reports that a run cannot be submitted as it is described. Users read the message. */
export class SubmitError extends Error {}
