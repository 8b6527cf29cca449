import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../kernel/errors/domain-error';
import type { Logger } from '../kernel/logging/logger';

/** A node that is misdirected calls again and again. */
const WARN_EVERY_MS = 60_000;

/** Answers nodes in a process that serves clients only: its address is not the one that they are to call. */
export function misdirectedAgentsMiddleware(logger: Logger) {
  let warnedAt: number | null = null;
  return (request: Request, _response: Response, next: NextFunction): void => {
    const now = performance.now();
    if (warnedAt === null || now - warnedAt >= WARN_EVERY_MS) {
      warnedAt = now;
      logger.warn(
        { path: request.originalUrl.split('?', 1)[0], address: request.ip },
        'A node calls this process, which serves clients only (API_SERVES). Set AGENT_API_URL of the workers to the address of a process that serves agents, then stop and start the clusters whose nodes are silent',
      );
    }
    const message = 'This process serves clients only. Nodes reach the platform at AGENT_API_URL.';
    next(new DomainError('misdirected', 'AGENT.MISDIRECTED', message));
  };
}
