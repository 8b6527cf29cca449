/** A value is recognized by its pieces of this length, one behind the other; bytes. */
const PIECE = 16;
/** How many bytes before and behind a byte decide whether it is masked. */
export const MASK_REACH = PIECE - 1;
/** Shorter values are words of any text: masking them would hide the log and not the value. */
const SHORTEST = 4;
/** Of a value with several lines: a bracket or a key word is no secret. */
const MIN_LINE = 8;
/** Words of JSON itself, which an event log is full of. */
const WORDS = new Set(['true', 'false', 'null']);

const STAR = 0x2a;
const NEWLINE = 0x0a;
const [ZERO, NINE] = [0x30, 0x39];

/** What a text is: in `json`, numbers stay numbers, so that lines can still be read. */
export type MaskedForm = 'text' | 'json';

/**
 * Puts asterisks in the place of secret values in a text, byte for byte, so that its length stays the same. It is an Aho-Corasick
 * automaton over pieces of the values: one step for each byte of the text, whatever and however many the values are.
 */
export class SecretMask {
  private readonly root = new Int32Array(256);
  /** Hash table with open addressing: `state * 256 + byte` to the next state, for all states but the first. */
  private readonly keys: Int32Array;
  private readonly targets: Int32Array;
  /** By state: where it goes on when no piece does. */
  private readonly fails: Int32Array;
  /** By state: length of the longest piece that ends there. */
  private readonly found: Uint8Array;
  /** By state: how many of the last bytes may be the beginning of a piece. */
  private readonly open: Uint8Array;
  private states = 1;

  constructor(values: readonly string[]) {
    const pieces = [...new Set(values.flatMap(formsOf).flatMap((form) => piecesOf(form)))].map((text) =>
      Buffer.from(text, 'latin1'),
    );
    const most = pieces.reduce((sum, piece) => sum + piece.length, 1);
    const slots = 2 ** Math.ceil(Math.log2(most * 2));
    [this.keys, this.targets] = [new Int32Array(slots), new Int32Array(slots)];
    [this.fails, this.found, this.open] = [new Int32Array(most), new Uint8Array(most), new Uint8Array(most)];
    const levels: Level[] = Array.from({ length: PIECE + 1 }, () => []);
    for (const piece of pieces) this.add(piece, levels);
    for (const [depth, level] of levels.entries()) this.link(level, depth);
  }

  /**
   * Masks the values in the text, in place, as far as it has all of them or a piece. Answers how many of its last bytes may
   * be the beginning of one; of a text that `isOver` these are masked, too.
   */
  mask(text: Buffer, form: MaskedForm, isOver: boolean): number {
    const { found } = this;
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = this.next(state, text[at] as number);
      const length = found[state] as number;
      if (length > 0) hide(text, at + 1 - length, at + 1, form);
    }
    const open = this.open[state] as number;
    if (!isOver) return open;
    // Be it the beginning of a value, or of a further piece of one.
    if (open >= SHORTEST || text[text.length - open - 1] === STAR) hide(text, text.length - open, text.length, form);
    return 0;
  }

  private next(from: number, byte: number): number {
    let state = from;
    while (state !== 0) {
      const target = this.targets[this.slot(state, byte)] as number;
      if (target !== 0) return target;
      state = this.fails[state] as number;
    }
    return this.root[byte] as number;
  }

  /** Where the step from a state by a byte is in the table, or would be. */
  private slot(state: number, byte: number): number {
    const { keys } = this;
    const [key, last] = [state * 256 + byte, keys.length - 1];
    let slot = (Math.imul(key, 0x9e3779b1) >>> 7) & last;
    while (keys[slot] !== key && keys[slot] !== 0) slot = (slot + 1) & last;
    return slot;
  }

  private add(piece: Buffer, levels: Level[]): void {
    let state = 0;
    for (const [at, byte] of piece.entries()) {
      const slot = state === 0 ? -1 : this.slot(state, byte);
      let target = (state === 0 ? this.root[byte] : this.targets[slot]) as number;
      if (target === 0) {
        target = this.states;
        this.states += 1;
        levels[at + 1]?.push({ state: target, parent: state, byte });
        if (state === 0) this.root[byte] = target;
        else [this.keys[slot], this.targets[slot]] = [state * 256 + byte, target];
      }
      // Something goes on from here.
      if (at > 0) this.open[state] = at;
      state = target;
    }
    this.found[state] = piece.length;
  }

  /** Finishes the states of one depth; those before it are finished. */
  private link(level: Level, depth: number): void {
    const { fails, found, open } = this;
    for (const { state, parent, byte } of level) {
      const fail = depth === 1 ? 0 : this.next(fails[parent] as number, byte);
      fails[state] = fail;
      if (found[state] === 0) found[state] = found[fail] as number;
      if (open[state] === 0) open[state] = open[fail] as number;
    }
  }
}

type Level = { state: number; parent: number; byte: number }[];

function hide(text: Buffer, from: number, to: number, form: MaskedForm): void {
  let mark = STAR;
  if (form === 'json') {
    // No number of JSON begins with a zero.
    mark = NINE;
    for (let at = from; at < to && mark === NINE; at += 1) {
      const byte = text[at] as number;
      if (byte < ZERO || byte > NINE) mark = STAR;
    }
  }
  // Lines stay lines.
  for (let at = from; at < to; at += 1) if (text[at] !== NEWLINE) text[at] = mark;
}

/**
 * The forms in which a value may be in a log: as it is, as in a shell, which knows no NUL, and each of its lines without blanks around
 * it; and all these as in JSON.
 */
function formsOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).flatMap((line) => line.trim() || []);
  const shortest = lines.length > 1 ? MIN_LINE : SHORTEST;
  const parts = lines.filter((line) => line.length >= shortest);
  const forms = [value, value.replaceAll('\0', ''), ...parts].filter((form) => form.length >= SHORTEST);
  return forms.filter((form) => !WORDS.has(form));
}

/** What a form is recognized by: pieces that together cover it, as binary strings. */
function piecesOf(form: string): string[] {
  const plain = cut(Array.from(form, binary));
  if (JSON.stringify(form) === `"${form}"`) return plain;
  return [...plain, ...cut(Array.from(form, (character) => binary(JSON.stringify(character).slice(1, -1))))];
}

function binary(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Cut between characters, so that what is masked alone leaves text that can be read. The last piece overlaps the one before. */
function cut(characters: readonly string[]): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of characters) {
    if (piece.length + character.length > PIECE) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  if (pieces.length === 0) return [piece];
  for (let at = characters.length - 1, last = ''; ; at -= 1) {
    const longer = `${characters[at]}${last}`;
    if (longer.length > PIECE) return [...pieces, last];
    last = longer;
  }
}
