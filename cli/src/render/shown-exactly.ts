/** Characters that a reader cannot tell from others or cannot see, or that a terminal would not print. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;
const allUnseen = new RegExp(unseen.source, "gu");

/** Returns a text for a terminal, on one line and whole: as it is, or as JSON if it has characters that cannot be seen. */
export function shownExactly(text: string): string {
  if (!unseen.test(text)) return text;
  return JSON.stringify(text).replace(allUnseen, (character) =>
    character
      .split("")
      .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
      .join(""),
  );
}

/** Returns a text as one word of a shell, on one line and whole. Characters that cannot be seen need a shell that knows `$'…'`. */
export function shellQuoted(text: string): string {
  if (!unseen.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text
    .replace(/[\\']/g, (character) => `\\${character}`)
    .replace(allUnseen, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return code > 0xff_ff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
    });
  return `$'${escaped}'`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
