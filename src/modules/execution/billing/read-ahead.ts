/** Asks for the next part before it hands out each: the database works while the last one is being sent. */
export async function* readAhead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = source.next();
  try {
    for (;;) {
      const part = await next;
      if (part.done) return;
      next = source.next();
      // It is thrown when it is its turn; until then nobody waits for it.
      next.catch(() => undefined);
      yield part.value;
    }
  } finally {
    await source.return();
  }
}
