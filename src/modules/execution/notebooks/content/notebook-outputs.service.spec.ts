import type { CellRow } from './notebook-outputs.repository';
import { NotebookOutputsService } from './notebook-outputs.service';

describe('outputs of a cell', () => {
  it('are read without blocking the event loop, however many numbers they contain', async () => {
    const numbers = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`n${index}`, 0.5]));
    const output = { output_type: 'display_data', data: { 'text/plain': 'x' }, metadata: numbers };
    const content = JSON.stringify(output);
    const outputs = 100;
    const pieces = Array.from({ length: outputs }, (_, index) => ({ output: index, stream: null, content }));
    const service = new NotebookOutputsService({ pieces: () => Promise.resolve(pieces) } as never, undefined as never);
    let turns = 0;
    let next: NodeJS.Immediate = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    const read = await service.read('tenant', 1, { cell_uuid: 'a', outputs } as CellRow);
    clearImmediate(next);
    expect(read).toEqual(Array(outputs).fill(output));
    expect(turns).toBeGreaterThanOrEqual(Math.floor((outputs * content.length) / (128 * 1024)));
  });
});
