import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { exactJson } from '../../../../../libs/json/exact-json';
import { runWithoutCaller } from '../../../../platform/kernel/context/request-context';
import type { FramePage } from '../../runs';
import { type KernelFrame, stateMessage } from './kernel-messages';

/** Number of positions whose messages are cached. */
const MAX_CACHED_READS = 4;

/** The messages for clients in the frames after a number. */
export interface KernelMessages {
  /** Oldest first. The text is null for a frame that is not for clients. All clients share the buffers. */
  messages: { number: number; text: Buffer | null }[];
  /** True if some frames after the number are no longer kept. */
  lost: boolean;
}

/** The messages of a kernel for the sockets of this process, read once for all that are at the same position. */
export class KernelFeed {
  private readonly reads = new Map<number, Promise<KernelMessages>>();

  /** @param parse returns null for a payload that is not a frame of a kernel */
  constructor(
    private readonly read: (after: number) => Promise<FramePage>,
    private readonly parse: (payload: Buffer) => Promise<KernelFrame | null>,
  ) {}

  /** Called when there may be new frames. Readers that are in progress must read again. */
  invalidate(): void {
    this.reads.clear();
  }

  /** Returns some of the messages after a number. */
  messagesAfter(after: number): Promise<KernelMessages> {
    const known = this.reads.get(after);
    if (known) return known;
    const read = runWithoutCaller(() => this.read(after)).then(async ({ frames, lost }) => ({
      messages: await this.messages(frames),
      lost,
    }));
    read.catch(() => this.reads.get(after) === read && this.reads.delete(after));
    this.reads.set(after, read);
    const [oldest] = this.reads.keys();
    if (this.reads.size > MAX_CACHED_READS && oldest !== undefined) this.reads.delete(oldest);
    return read;
  }

  private async messages(frames: readonly NumberedPayload[]): Promise<KernelMessages['messages']> {
    const messages: KernelMessages['messages'] = [];
    for (const { number, payload } of frames) messages.push({ number, text: textOf(await this.parse(payload)) });
    return messages;
  }
}

/** Returns the text of a frame for clients; null if it is not for them. */
function textOf(frame: KernelFrame | null): Buffer | null {
  if (!frame) return null;
  if (frame.op === 'message') return Buffer.from(exactJson(frame.message));
  // The kernel itself sends messages for idle and busy.
  return frame.state === 'idle' || frame.state === 'busy' ? null : Buffer.from(stateMessage(frame.state));
}
