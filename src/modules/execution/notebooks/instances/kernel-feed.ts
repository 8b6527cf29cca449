import type { NumberedPayload } from '../../../../../libs/contracts/channel-records';
import { exactJson } from '../../../../../libs/json/exact-json';
import { runWithoutCaller } from '../../../../platform/kernel/context/request-context';
import type { FramePage } from '../../runs';
import { type KernelFrame, stateMessage } from './kernel-messages';

/** Places that a feed remembers what is behind. */
const MAX_CONCURRENT_READS = 4;

/** What clients are sent of the frames behind a number. */
export interface KernelMessages {
  /** The oldest first; of a frame that is not for clients the text is null. All clients share the memory. */
  messages: { number: number; text: Buffer | null }[];
  /** Whether frames behind the number are no longer kept. */
  lost: boolean;
}

/** What a kernel says to its sockets of this process: read once for all that are at the same place. */
export class KernelFeed {
  private readonly reads = new Map<number, Promise<KernelMessages>>();

  /** @param parse reads a frame; null if it is not one of a kernel */
  constructor(
    private readonly read: (after: number) => Promise<FramePage>,
    private readonly parse: (payload: Buffer) => Promise<KernelFrame | null>,
  ) {}

  /** There may be more behind what was read. Whoever reads already must do so once more. */
  renew(): void {
    this.reads.clear();
  }

  /** Some of what is behind a number. */
  behind(after: number): Promise<KernelMessages> {
    const known = this.reads.get(after);
    if (known) return known;
    const read = runWithoutCaller(() => this.read(after)).then(async ({ frames, lost }) => ({
      messages: await this.messages(frames),
      lost,
    }));
    read.catch(() => this.reads.get(after) === read && this.reads.delete(after));
    this.reads.set(after, read);
    const [oldest] = this.reads.keys();
    if (this.reads.size > MAX_CONCURRENT_READS && oldest !== undefined) this.reads.delete(oldest);
    return read;
  }

  private async messages(frames: readonly NumberedPayload[]): Promise<KernelMessages['messages']> {
    const messages: KernelMessages['messages'] = [];
    for (const { number, payload } of frames) messages.push({ number, text: textOf(await this.parse(payload)) });
    return messages;
  }
}

/** A frame as a client gets it; null for what is not for clients. */
function textOf(frame: KernelFrame | null): Buffer | null {
  if (!frame) return null;
  if (frame.op === 'message') return Buffer.from(exactJson(frame.message));
  // Idle and busy come as the kernel's own messages.
  return frame.state === 'idle' || frame.state === 'busy' ? null : Buffer.from(stateMessage(frame.state));
}
