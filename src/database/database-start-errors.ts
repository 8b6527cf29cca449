import { messageOf } from '../platform/kernel/errors/message-of';
import { StartError } from '../platform/kernel/process/start-error';

const variable = 'DATABASE_URL';

/** Permanent refusals of PostgreSQL by their codes. */
const REFUSALS: Readonly<Record<string, { code: string; remedy: string }>> = {
  '28P01': { code: 'DATABASE.LOGIN_REFUSED', remedy: 'Correct user and password in DATABASE_URL.' },
  '28000': { code: 'DATABASE.LOGIN_REFUSED', remedy: 'Correct DATABASE_URL, or allow the user in pg_hba.conf.' },
  '3D000': { code: 'DATABASE.MISSING', remedy: 'Create the database, or correct its name in DATABASE_URL.' },
};

/** Converts an error of connecting to a StartError. `isTransient` is true if waiting may help. */
export function connectionError(url: string, cause: unknown): { isTransient: boolean; error: StartError } {
  const refusal = REFUSALS[codeOf(cause) ?? ''];
  const { host } = new URL(url);
  if (refusal) {
    const message = `PostgreSQL at ${host} refuses the connection: ${messageOf(cause)}.`;
    return { isTransient: false, error: new StartError(refusal.code, message, { variable, remedy: refusal.remedy }) };
  }
  const message = `PostgreSQL at ${host} cannot be reached: ${messageOf(cause)}.`;
  const remedy = 'Start PostgreSQL and let this process reach it, or correct host and port in DATABASE_URL.';
  return { isTransient: true, error: new StartError('DATABASE.UNREACHABLE', message, { variable, remedy }) };
}

/** Returns the error code of PostgreSQL or the network; null if there is none. */
export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}
