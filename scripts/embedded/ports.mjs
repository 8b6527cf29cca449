import { createServer } from 'node:net';
import { SetupError } from './setup-error.mjs';

/**
 * @param {number} port 0 for any
 * @param {string} host
 * @returns {Promise<number>} the port that could be bound
 */
function bind(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const { port: bound } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(bound));
    });
  });
}

/**
 * @param {number | undefined} remembered taken when it is still free
 * @returns {Promise<number>} a free port of the loopback interface
 */
export async function freePort(remembered) {
  if (remembered) {
    try {
      return await bind(remembered, '127.0.0.1');
    } catch {
      // Someone else has it by now.
    }
  }
  return bind(0, '127.0.0.1');
}

/**
 * @param {number} port
 * @param {string} host
 * @throws {SetupError} naming what to set when the API could not listen there
 */
export async function assertPortFree(port, host) {
  try {
    await bind(port, host);
  } catch (error) {
    switch (error.code) {
      case 'EADDRINUSE':
        throw new SetupError(
          `Port ${port} on ${host} is already in use by another program. End that program or choose another port, for example PORT=${port + 1} npm run quickstart.`,
        );
      case 'EACCES':
        throw new SetupError(`Port ${port} may not be opened by this user. Choose a PORT above 1023.`);
      default:
        throw new SetupError(
          `Cannot listen on ${host}:${port} (${error.code ?? error.message}). Set HOST to an address of this machine, such as 127.0.0.1.`,
        );
    }
  }
}
