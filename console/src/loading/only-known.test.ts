import { expect, test } from "vitest";
import { hasValues, onlyKnown } from "./only-known.ts";

test("a parameter that a screen refuses is not passed on as it was written", () => {
  const read = onlyKnown(({ at }): { readonly at?: number } =>
    typeof at === "number" ? { at } : {},
  );
  // The router spreads the result over what the address has.
  const raw = { at: "soon", other: [1] };
  expect({ ...raw, ...read(raw) }).toEqual({ at: undefined, other: undefined });
  expect(hasValues(read(raw))).toBe(false);
  expect(hasValues(read({ at: 3 }))).toBe(true);
});
