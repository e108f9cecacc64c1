/** What a person made, and the way back. */
export interface History<Value> {
  readonly past: readonly Value[];
  readonly present: Value;
  readonly future: readonly Value[];
  /** What the last change was about. Empty: nothing that a next change continues. */
  readonly subject: string;
}

/** How many changes can be undone. */
const maxPast = 100;

export function newHistory<Value>(present: Value): History<Value> {
  return { past: [], present, future: [], subject: "" };
}

/** Adds a change. One about the same subject as the last one, such as the next letter of a name, is a part of it. */
export function changed<Value>(
  { past, present, subject: last }: History<Value>,
  next: Value,
  subject = "",
): History<Value> {
  const isContinued = subject !== "" && subject === last;
  return {
    past: isContinued ? past : [...past, present].slice(-maxPast),
    present: next,
    future: [],
    subject,
  };
}

export function undone<Value>(history: History<Value>): History<Value> {
  const { past, present, future } = history;
  const before = past.at(-1);
  if (before === undefined) return history;
  return { past: past.slice(0, -1), present: before, future: [present, ...future], subject: "" };
}

export function redone<Value>(history: History<Value>): History<Value> {
  const { past, present, future } = history;
  const [next, ...later] = future;
  if (next === undefined) return history;
  return { past: [...past, present], present: next, future: later, subject: "" };
}
