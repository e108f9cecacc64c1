/** Returns a log whose `append` is another one. */
export function withAppend<Log extends { append: (...given: never[]) => Promise<unknown> }>(
  log: Log,
  append: () => Promise<never>,
): Log {
  return new Proxy(log, {
    get(target, name) {
      if (name === "append") return append;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
