/**
 * The newest entry of a list that only grows. Appending takes constant time and leaves every earlier list as it was, so a
 * fold that appends once per event stays linear.
 */
export interface Linked<T> {
  readonly value: T;
  readonly before: Linked<T> | undefined;
}

export function linked<T>(before: Linked<T> | undefined, value: T): Linked<T> {
  return { value, before };
}

/** Returns the newest entry that matches. */
export function findNewest<T>(
  last: Linked<T> | undefined,
  matches: (value: T) => boolean,
): T | undefined {
  let entry = last;
  while (entry !== undefined && !matches(entry.value)) entry = entry.before;
  return entry?.value;
}

/** Returns the entries, oldest first. */
export function oldestFirst<T>(last: Linked<T> | undefined): readonly T[] {
  const values: T[] = [];
  for (let entry = last; entry !== undefined; entry = entry.before) values.push(entry.value);
  return values.toReversed();
}
