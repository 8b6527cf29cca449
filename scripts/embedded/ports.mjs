import { createServer } from 'node:net';
import { SetupError } from './setup-error.mjs';

/**
 * @param {number} port 0 for any
 * @param {string} host
 * @returns {Promise<number>} the bound port
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
 * @param {number} [remembered] used if it is still free
 * @returns {Promise<number>} a free port of the loopback interface
 */
export async function freePort(remembered) {
  if (remembered) {
    try {
      return await bind(remembered, '127.0.0.1');
    } catch {
      // Another program has the port by now.
    }
  }
  return bind(0, '127.0.0.1');
}

/**
 * @param {number} port
 * @param {string} host
 * @throws {SetupError} that names the variable to set if the API could not listen there
 */
export async function assertPortFree(port, host) {
  try {
    await bind(port, host);
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'EADDRINUSE') {
      throw new SetupError(
        `Port ${port} on ${host} is already in use by another program. End that program or choose another port, for example PORT=${port + 1} npm run quickstart.`,
      );
    }
    if (code === 'EACCES') {
      throw new SetupError(`Port ${port} may not be opened by this user. Choose a PORT above 1023.`);
    }
    throw new SetupError(
      `Cannot listen on ${host}:${port} (${code ?? message}). Set HOST to an address of this machine, such as 127.0.0.1.`,
    );
  }
}
