import type { EnvReader } from './env-reader';

export interface ProductConfig {
  /** Replaces PLATFORM wherever the specification has it inside a value on the wire. */
  name: string;
  logLevel: string;
}

export function readProductConfig(env: EnvReader): ProductConfig {
  return {
    name: env.string('PRODUCT_NAME', {
      default: 'PLATFORM',
      pattern: /^[A-Za-z][A-Za-z0-9_]{0,31}$/,
      meaning: 'a letter followed by at most 31 letters, digits or underscores',
    }),
    logLevel: env.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
  };
}
