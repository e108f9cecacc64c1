import { newId } from "./new-id.ts";

interface RequestIds {
  /** Returns the id of a request: that of the last one if all parts are the same, and it was not answered. */
  readonly idFor: (...parts: readonly unknown[]) => string;
  /** The last request was answered; the next one is another, whatever its parts. */
  readonly answered: () => void;
}

/** Ids for requests of one kind, so that one that is repeated after a lost answer acts once. */
export function requestIds(): RequestIds {
  let last: { readonly parts: readonly unknown[]; readonly id: string } | undefined;
  return {
    idFor: (...parts) => {
      if (last === undefined || !isSame(last.parts, parts)) last = { parts, id: newId() };
      return last.id;
    },
    answered: () => {
      last = undefined;
    },
  };
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}
