/** Limits of the slots that may be held at once. */
export interface SlotLimits {
  all: number;
  perKey: number;
}

/** Slots that are limited in all and per key. */
export class KeyedSlots {
  private held = 0;
  private readonly heldPerKey = new Map<string, number>();

  constructor(private readonly limits: SlotLimits) {}

  /** Takes a slot. Returns a function that gives it back, which may be called repeatedly, or the name of the limit that is reached. */
  take(key: string): (() => void) | keyof SlotLimits {
    const perKey = this.heldPerKey.get(key) ?? 0;
    if (perKey >= this.limits.perKey) return 'perKey';
    if (this.held >= this.limits.all) return 'all';
    this.held += 1;
    this.heldPerKey.set(key, perKey + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.held -= 1;
      const rest = (this.heldPerKey.get(key) ?? 0) - 1;
      if (rest > 0) this.heldPerKey.set(key, rest);
      else this.heldPerKey.delete(key);
    };
  }
}
