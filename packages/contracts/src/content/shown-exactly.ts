/** Characters that a reader cannot tell from others or cannot see, or that a terminal would not print. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;

/** Returns a text on one line and whole: as it is, or as JSON if it has characters that cannot be seen. */
export function shownExactly(text: string): string {
  if (!unseen.test(text)) return text;
  return withoutUnseen(JSON.stringify(text), (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Returns a text with something else in place of each character that cannot be seen. */
export function withoutUnseen(text: string, replace: (character: string) => string): string {
  return text.replace(new RegExp(unseen.source, "gu"), (character) => replace(character));
}
