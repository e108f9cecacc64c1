import * as fc from "fast-check";

const character = fc.oneof(
  // Halves of pairs of surrogates too.
  fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
  fc.constantFrom(" ", "\n", '"', "\\", "a", "é", "猫", "コ", "한", "\u0301", "\u200d", "🎸"),
);

/** Text of any characters at all, at most `maxLength` of them. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: character, maxLength });
