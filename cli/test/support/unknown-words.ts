import type { Command } from "commander";

/** Returns the words of a command line that name no command or option. */
export function unknownIn(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  const unknown: string[] = [];
  for (const [index, word] of words.entries()) {
    const sub = command.commands.find((each) => each.name() === word);
    const known = [...command.options, ...program.options];
    if (sub !== undefined) command = sub;
    // Every command has it, and lists it among no options.
    else if (word === "--help") continue;
    else if (word.startsWith("-")) {
      if (!known.some(({ long, short }) => word === long || word === short)) unknown.push(word);
    } else if (command.commands.length > 0 && !(words[index - 1] ?? "").startsWith("-")) {
      unknown.push(word);
    }
  }
  return unknown;
}
