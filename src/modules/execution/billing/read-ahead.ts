/** Prefetches the next part before it yields the current one, so that the database works while that one is sent. */
export async function* readAhead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = source.next();
  try {
    for (;;) {
      const part = await next;
      if (part.done) return;
      next = source.next();
      // An error is thrown when its part is due. Until then, no promise may be left without a handler.
      next.catch(() => undefined);
      yield part.value;
    }
  } finally {
    await source.return();
  }
}
