import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A Python program that reads commands as lines of JSON and answers each with one line. */
export class ByHandProcess {
  /** @type {AsyncIterator<string>} */
  #lines;

  /**
   * @param {string[]} argv
   * @param {{env: Record<string, string>, cwd: string, signal: AbortSignal, log?: string}} options log is a file for the program's
   * messages, which are printed if it is absent
   */
  constructor([program = '', ...words], { env, cwd, signal, log }) {
    this.child = spawn(program, words, { env, cwd, stdio: 'pipe' });
    this.child.stderr.pipe(log === undefined ? process.stderr : createWriteStream(log));
    this.child.on('error', () => {});
    this.child.stdin.on('error', () => {});
    // The program ends what it started when its input ends.
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
    signal.addEventListener('abort', () => this.child.stdin.end(), { once: true });
    this.#lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** @param {...string} command @returns {Promise<any>} the response, whose shape depends on the command */
  async ask(...command) {
    this.child.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`The program of the measurement has ended at ${command[0]}.`);
    const answer = JSON.parse(value);
    if (answer.error) throw new Error(`By hand ${command[0]} failed: ${answer.error}`);
    return answer;
  }

  async close() {
    this.child.stdin.end();
    await this.ended;
  }
}
