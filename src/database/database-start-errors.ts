import { messageOf } from '../platform/kernel/errors/message-of';
import { StartError } from '../platform/kernel/process/start-error';

const variable = 'DATABASE_URL';

/** What PostgreSQL refuses for good, by its code. */
const REFUSALS: Readonly<Record<string, { code: string; remedy: string }>> = {
  '28P01': { code: 'DATABASE.LOGIN_REFUSED', remedy: 'Correct user and password in DATABASE_URL.' },
  '28000': { code: 'DATABASE.LOGIN_REFUSED', remedy: 'Correct DATABASE_URL, or let the user in by pg_hba.conf.' },
  '3D000': { code: 'DATABASE.MISSING', remedy: 'Create the database, or correct its name in DATABASE_URL.' },
};

/** Why there is no connection. */
export function connectionError(url: string, cause: unknown): { passes: boolean; error: StartError } {
  const refusal = REFUSALS[codeOf(cause) ?? ''];
  const { host } = new URL(url);
  if (refusal) {
    const message = `PostgreSQL at ${host} refuses the connection: ${messageOf(cause)}.`;
    return { passes: false, error: new StartError(refusal.code, message, { variable, remedy: refusal.remedy }) };
  }
  const message = `PostgreSQL at ${host} cannot be reached: ${messageOf(cause)}.`;
  const remedy = 'Start PostgreSQL and let this process reach it, or correct host and port in DATABASE_URL.';
  return { passes: true, error: new StartError('DATABASE.UNREACHABLE', message, { variable, remedy }) };
}

/** The code that PostgreSQL or the network gave an error. */
export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}
