/** A failure that the user can resolve: its message names the cause and the remedy, so it is shown without a stack. */
export class SetupError extends Error {
  /**
   * @param {string} message cause and remedy
   * @param {{cause?: unknown}} [options]
   */
  constructor(message, options) {
    super(message, options);
    this.name = 'SetupError';
  }
}
