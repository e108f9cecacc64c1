/** Asks at most once per `maxMs`. Callers in between share one answer, also if it is an error. */
export function cached<Value>(ask: () => Promise<Value>, maxMs: number): () => Promise<Value> {
  let asked: { readonly answer: Promise<Value>; readonly atMs: number } | undefined;
  return () => {
    const now = performance.now();
    if (asked === undefined || now - asked.atMs > maxMs) asked = { answer: ask(), atMs: now };
    return asked.answer;
  };
}
