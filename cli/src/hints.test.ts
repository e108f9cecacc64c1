import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MemoryTerminal } from "../test/support/memory-terminal.ts";
import { unknownIn } from "../test/support/unknown-words.ts";
import { createContext } from "./context.ts";
import { createProgram } from "./program.ts";

const root = join(import.meta.dirname, "../..");
const sources = globSync("{packages,services}/*/src/**/*.ts", { cwd: root })
  .concat(globSync("{cli,sdk/typescript}/src/**/*.ts", { cwd: root }))
  .filter((path) => !path.endsWith(".test.ts"));

/** The commands in errors, hints, and help. */
const hints = sources.flatMap((path) => {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/(?:`|: )reeve ([a-z][^`"$\n;,)\\]*)/g)].map(([, words = ""]) => ({
    path,
    words: words.trim().split(/\s+/),
  }));
});

test("every command that errors, hints, and help name exists, with its options", () => {
  const { signal } = new AbortController();
  const context = createContext({ terminal: new MemoryTerminal(), environment: {}, signal });
  const program = createProgram(context);
  expect(hints.length).toBeGreaterThan(10);
  const unknown = hints.filter(({ words }) => {
    const names = program.commands.map((command) => command.name());
    return !names.includes(words[0] ?? "") || unknownIn(program, words).length > 0;
  });
  expect(unknown).toEqual([]);
});
