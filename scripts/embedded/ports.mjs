import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { SetupError } from './setup-error.mjs';

/** Ports below those that the system assigns itself, so that no other process gets one by chance before it is used. */
const [FIRST, LAST] = [15_000, 31_999];
const TRIES = 100;

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<void>} after the port is free again
 */
function bind(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()));
  });
}

/** @param {number} port */
function isFree(port) {
  return bind(port, '127.0.0.1').then(
    () => true,
    () => false,
  );
}

/**
 * @param {number} [remembered] used if it is still free
 * @returns {Promise<number>} a port of the loopback interface on which nothing listens at the moment
 * @throws {SetupError}
 */
export async function freePort(remembered) {
  if (remembered && (await isFree(remembered))) return remembered;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port)) return port;
  }
  throw new SetupError(`${TRIES} ports between ${FIRST} and ${LAST} are all in use. End programs that listen there.`);
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
