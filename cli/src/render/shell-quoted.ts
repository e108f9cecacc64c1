import { shownExactly, withoutUnseen } from "@reeve/contracts/content/shown-exactly";

/** Returns a text as one word of a shell, on one line and whole. Characters that cannot be seen need a shell that knows `$'…'`. */
export function shellQuoted(text: string): string {
  if (shownExactly(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = withoutUnseen(
    text.replace(/[\\']/g, (character) => `\\${character}`),
    (character) => {
      const code = character.codePointAt(0) ?? 0;
      return code > 0xff_ff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
    },
  );
  return `$'${escaped}'`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
