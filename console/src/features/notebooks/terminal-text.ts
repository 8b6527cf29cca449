/** Movements of the cursor that progress bars use: to the start of the line, lines up, and the removal of a line. */
// eslint-disable-next-line no-control-regex -- they are control characters
const MOVEMENT = /\r\n|[\n\r\b]|\u001b\[(\d*)([AK])/g;
// eslint-disable-next-line no-control-regex -- escape sequences begin with a control character
const STYLE = /\u001b\[[\d;]*m/g;

/** Returns a text as a terminal shows it: what a carriage return begins again replaces what was there. */
export function terminalText(text: string): string {
  // Most texts have no such movement.
  // eslint-disable-next-line no-control-regex -- they are control characters
  if (!/[\r\b]|\u001b\[\d*[AK]/.test(text)) return text;
  const screen = new Screen();
  let from = 0;
  for (const { 0: movement, 1: count = '', 2: kind, index } of text.matchAll(MOVEMENT)) {
    screen.write(text.slice(from, index));
    from = index + movement.length;
    if (kind === 'A') screen.up(Number(count) || 1);
    else if (kind === 'K') screen.clearLine(count);
    else if (movement === '\b') screen.back();
    else if (movement === '\r') screen.toStart();
    else screen.newLine();
  }
  screen.write(text.slice(from));
  return screen.text;
}

class Screen {
  private readonly lines: string[] = [''];
  private row = 0;
  /** True if the cursor is at the start of a line that has a text. */
  private isAtStart = false;

  get text(): string {
    return this.lines.join('\n');
  }

  write(text: string): void {
    if (text === '') return;
    const before = this.lines[this.row] ?? '';
    this.lines[this.row] = this.isAtStart ? text + behind(before, text) : before + text;
    this.isAtStart = false;
  }

  newLine(): void {
    this.row += 1;
    this.lines[this.row] ??= '';
    this.isAtStart = this.lines[this.row] !== '';
  }

  toStart(): void {
    this.isAtStart = true;
  }

  up(count: number): void {
    this.row = Math.max(0, this.row - count);
    this.isAtStart = true;
  }

  back(): void {
    const line = this.lines[this.row] ?? '';
    if (!this.isAtStart) this.lines[this.row] = line.slice(0, -1);
  }

  clearLine(mode: string): void {
    if (this.isAtStart || mode === '2') this.lines[this.row] = '';
  }
}

/** Returns what is left of a line behind a text that is written over its start. */
function behind(line: string, text: string): string {
  return line.replace(STYLE, '').slice(text.replace(STYLE, '').length);
}
