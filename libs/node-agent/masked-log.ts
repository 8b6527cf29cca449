import type { GrowingLog } from './log-shipper';
import { MASK_REACH, type MaskedForm, type SecretMask } from './secret-mask';

/** A log as a process writes it, including secrets. */
export interface MaskableLog {
  /** Number of bytes from the start that are kept whatever follows. */
  readonly kept: number;
  read(position: number, length: number): Buffer;
  /** Returns what is kept after them once the log has stopped growing. */
  ending(mask: SecretMask | null): Buffer;
}

/** A log in which asterisks replace the values of secrets, byte for byte, even at its end. */
export class MaskedLog implements GrowingLog {
  /** @param mask called for each read; returns null for a run without secrets */
  constructor(
    private readonly log: MaskableLog,
    private readonly form: MaskedForm,
    private readonly mask: () => SecretMask | null,
  ) {}

  get kept(): number {
    return this.log.kept;
  }

  ending(): Buffer {
    return this.log.ending(this.mask());
  }

  read(position: number, length: number, isOver: boolean): Buffer {
    const mask = this.mask();
    if (mask === null) return this.log.read(position, length);
    const { kept } = this.log;
    const from = Math.max(0, position - MASK_REACH);
    const to = Math.min(kept, position + length + MASK_REACH);
    const bytes = this.log.read(from, to - from);
    const undecided = mask.mask(bytes, this.form, isOver && to === kept);
    const decided = bytes.length - undecided;
    return bytes.subarray(Math.min(position - from, decided), Math.min(position - from + length, decided));
  }
}
