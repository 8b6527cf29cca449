/** A value is recognized by consecutive pieces of this length; bytes. */
const PIECE_BYTES = 16;
/** Number of bytes before and after a byte that decide whether it is masked. */
export const MASK_REACH = PIECE_BYTES - 1;
/** Shorter values occur in any text: masking them would hide the log and not the value. */
const MIN_LENGTH = 4;
/** Minimum length of a line in a multi-line value: a bracket or a keyword is not a secret. */
const MIN_LINE_LENGTH = 8;
/** Literals of JSON itself, which an event log is full of. */
const WORDS = new Set(['true', 'false', 'null']);

const STAR = 0x2a;
const NEWLINE = 0x0a;
const [ZERO, NINE] = [0x30, 0x39];

/** The form of a text. In `json`, numbers stay numbers, so that lines can still be parsed. */
export type MaskedForm = 'text' | 'json';

/**
 * Replaces secret values in a text by asterisks, byte for byte, so that its length stays the same. It is an Aho-Corasick automaton over
 * pieces of the values: one step per byte of the text, regardless of the number and length of the values.
 */
export class SecretMask {
  private readonly root = new Int32Array(256);
  /** Hash table with open addressing: `state * 256 + byte` to the next state, for all states but the first. */
  private readonly keys: Int32Array;
  private readonly targets: Int32Array;
  /** Failure link of each state: the state to continue with if no piece continues. */
  private readonly fails: Int32Array;
  /** Length of the longest piece that ends in each state. */
  private readonly found: Uint8Array;
  /** Number of last bytes that may be the start of a piece, for each state. */
  private readonly open: Uint8Array;
  private states = 1;

  constructor(values: readonly string[]) {
    const pieces = [...new Set(values.flatMap(formsOf).flatMap((form) => piecesOf(form)))].map((text) =>
      Buffer.from(text, 'latin1'),
    );
    const maxStates = pieces.reduce((sum, piece) => sum + piece.length, 1);
    const slots = 2 ** Math.ceil(Math.log2(maxStates * 2));
    [this.keys, this.targets] = [new Int32Array(slots), new Int32Array(slots)];
    [this.fails, this.found, this.open] = [
      new Int32Array(maxStates),
      new Uint8Array(maxStates),
      new Uint8Array(maxStates),
    ];
    const levels: Level[] = Array.from({ length: PIECE_BYTES + 1 }, () => []);
    for (const piece of pieces) this.add(piece, levels);
    for (const [depth, level] of levels.entries()) this.link(level, depth);
  }

  /**
   * Masks in place every value that the text contains whole or as a piece. Returns how many of its last bytes may be the start of a
   * value. If `isOver`, these are masked, too.
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
    // This may be the start of a value, or of a further piece of one.
    if (open >= MIN_LENGTH || text[text.length - open - 1] === STAR) hide(text, text.length - open, text.length, form);
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

  /** Returns the table slot of a step from a state by a byte, or the free slot for it. */
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
      // A piece continues from here.
      if (at > 0) this.open[state] = at;
      state = target;
    }
    this.found[state] = piece.length;
  }

  /** Completes the states of one depth. Those of lower depths are complete. */
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
    // A number in JSON does not start with a zero.
    mark = NINE;
    for (let at = from; at < to && mark === NINE; at += 1) {
      const byte = text[at] as number;
      if (byte < ZERO || byte > NINE) mark = STAR;
    }
  }
  // Keeps line breaks.
  for (let at = from; at < to; at += 1) if (text[at] !== NEWLINE) text[at] = mark;
}

/**
 * Returns the forms in which a value may appear in a log: unchanged, without NUL as in a shell, and each of its lines without
 * surrounding blanks. All of them may also be escaped as in JSON.
 */
function formsOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).flatMap((line) => line.trim() || []);
  const minLength = lines.length > 1 ? MIN_LINE_LENGTH : MIN_LENGTH;
  const parts = lines.filter((line) => line.length >= minLength);
  const forms = [value, value.replaceAll('\0', ''), ...parts].filter((form) => form.length >= MIN_LENGTH);
  return forms.filter((form) => !WORDS.has(form));
}

/** Returns the pieces that together cover a form, as binary strings. */
function piecesOf(form: string): string[] {
  const plain = cut(Array.from(form, binary));
  if (JSON.stringify(form) === `"${form}"`) return plain;
  return [...plain, ...cut(Array.from(form, (character) => binary(JSON.stringify(character).slice(1, -1))))];
}

function binary(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Cuts between characters, so that masking a single piece leaves readable text. The last piece overlaps the one before. */
function cut(characters: readonly string[]): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of characters) {
    if (piece.length + character.length > PIECE_BYTES) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  if (pieces.length === 0) return [piece];
  for (let at = characters.length - 1, last = ''; ; at -= 1) {
    const longer = `${characters[at]}${last}`;
    if (longer.length > PIECE_BYTES) return [...pieces, last];
    last = longer;
  }
}
