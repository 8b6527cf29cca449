import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Config } from '../../../config/config';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';
import { overloaded, tooMany } from '../../kernel/errors/domain-error';
import { KeyedSlots } from './keyed-slots';

/**
 * Bounds the streams that a process carries at once, which may take any time: uploads, downloads, logs and calls to
 * what runs, in all and per caller. Users and nodes do not keep each other out.
 */
@Injectable()
export class Streams {
  private readonly slots: Readonly<Record<Caller['kind'], KeyedSlots>>;
  private readonly stallMs: number;

  constructor({ http }: Config) {
    this.stallMs = http.stallMs;
    const limits = { all: http.maxStreams, perKey: http.maxStreamsOfCaller };
    this.slots = { user: new KeyedSlots(limits), node: new KeyedSlots(limits) };
  }

  /**
   * Counts the request as a stream until its answer is out, and ends it when the client stops reading. Throws a 429 if
   * the caller, and a 503 if the process has too many.
   */
  take({ caller }: AuthenticatedRequest, response: Response): void {
    if (!caller) throw new Error('A stream needs a known caller');
    const slot = this.slots[caller.kind].take(String(caller.id));
    if (slot === 'perKey')
      throw tooMany('REQUEST.TOO_MANY_STREAMS', 'Too many of your uploads, downloads and calls are under way.');
    if (slot === 'all')
      throw overloaded('REQUEST.TOO_MANY_STREAMS', 'Too many uploads, downloads and calls are under way.');
    // Its senders have listeners of their own besides the usual ones.
    response.setMaxListeners(20).once('close', slot);
    response.setTimeout(this.stallMs).on('timeout', (socket: Socket) => {
      // With nothing left to write, the source or the upload is the slow one: they have limits of their own.
      if (socket.writableLength > 0) socket.destroy();
    });
  }
}
