import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Config } from '../../../config/config';
import type { AuthenticatedRequest, Caller } from '../auth/request-principal';
import { overloaded, tooMany } from '../../kernel/errors/domain-error';
import { KeyedSlots } from './keyed-slots';

/**
 * Bounds the concurrent streams of a process, in all and per caller: uploads, downloads, logs, and calls of running jobs,
 * which may take any time. Users and nodes have separate limits.
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
   * Counts the request as a stream until its response is sent, and ends it if the client stops reading. Throws a 429 if the
   * caller has too many streams, and a 503 if the process has.
   */
  take({ caller }: AuthenticatedRequest, response: Response): void {
    if (!caller) throw new Error('A stream needs a known caller');
    const slot = this.slots[caller.kind].take(String(caller.id));
    if (slot === 'perKey')
      throw tooMany(
        'REQUEST.TOO_MANY_STREAMS',
        'You have too many uploads, downloads and calls at once. Send the request again when one of them has ended.',
      );
    if (slot === 'all')
      throw overloaded(
        'REQUEST.TOO_MANY_STREAMS',
        'The server has too many uploads, downloads and calls at once. Send the request again later.',
      );
    // The functions that send files and logs add listeners to the usual ones.
    response.setMaxListeners(20).once('close', slot);
    response.setTimeout(this.stallMs).on('timeout', (socket: Socket) => {
      // If nothing is left to write, the source or the upload is slow, and these have their own timeouts.
      if (socket.writableLength > 0) socket.destroy();
    });
  }
}
