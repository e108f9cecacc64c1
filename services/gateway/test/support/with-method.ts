/** Returns a port of which one method is replaced. */
export function withMethod<Port extends object>(
  port: Port,
  method: keyof Port,
  replacement: () => Promise<never>,
): Port {
  return new Proxy(port, {
    get(target, name) {
      if (name === method) return replacement;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
