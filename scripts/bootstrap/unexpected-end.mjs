/** Signals with which a person or the system ends a command on purpose. */
const expected = new Set(["SIGINT", "SIGTERM", "SIGHUP"]);

/** Returns what to say about a command that a signal ended, or undefined if nothing else is known than that it has ended. */
export function unexpectedEnd(name, signal) {
  if (signal === null || expected.has(signal)) return undefined;
  const next = name === "start" ? "; npm start continues its runs" : "";
  return `npm ${name === "start" ? "start" : `run ${name}`} was ended by ${signal}${next}`;
}
