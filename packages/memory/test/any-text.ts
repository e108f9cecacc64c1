import * as fc from "fast-check";

const character = fc.oneof(
  // Includes lone surrogates.
  fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
  fc.constantFrom(" ", "\n", '"', "\\", "a", "é", "猫", "コ", "한", "\u0301", "\u200d", "🎸"),
);

/** Generates text of any characters, at most `maxLength` of them. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: character, maxLength });
