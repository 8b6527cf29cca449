import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../kernel/errors/domain-error';
import type { Logger } from '../kernel/logging/logger';

/** A misdirected node repeats its calls, so only one of them per interval is logged. */
const WARNING_INTERVAL_MS = 60_000;

/** Refuses calls of nodes in a process that serves only clients. */
export function misdirectedAgentsMiddleware(logger: Logger) {
  let warnedAt: number | null = null;
  return (request: Request, _response: Response, next: NextFunction): void => {
    const now = performance.now();
    if (warnedAt === null || now - warnedAt >= WARNING_INTERVAL_MS) {
      warnedAt = now;
      logger.warn(
        { path: request.originalUrl.split('?', 1)[0], address: request.ip },
        'A node calls this process, which serves only clients (API_SERVES). Set AGENT_API_URL of the workers to the address of a process that serves agents, then stop and start the clusters whose nodes are silent',
      );
    }
    const message = 'This process serves only clients. Nodes must call the platform at AGENT_API_URL.';
    next(new DomainError('misdirected', 'AGENT.MISDIRECTED', message));
  };
}
