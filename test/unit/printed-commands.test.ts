import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { printedCommands } from "../system/support/printed/printed-commands.ts";

const root = join(import.meta.dirname, "../..");
const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { scripts } = manifest as { readonly scripts: Readonly<Record<string, string>> };
/** Single commands, without the variables that are set for them. */
const commands = printedCommands().flatMap(({ page, line }) =>
  line.split(/ && | & /).map((command) => ({
    page,
    command: command.replace(/^(?:\w+=\S* )*/, ""),
  })),
);

// test/system/printed-commands.test.ts runs those of the command line, and test/clients the others of docs/clients.md.
test("every npm script that a page prints exists", () => {
  const used = commands.flatMap(({ page, command }) => {
    const [, run, name] = /^npm (run )?(?:--silent )?([\w:]+)/.exec(command) ?? [];
    return run !== undefined || name === "test" || name === "start"
      ? [{ page, command, name }]
      : [];
  });
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter(({ name }) => scripts[name ?? ""] === undefined)).toEqual([]);
});

test("every script that a page starts exists, and is started with the pinned Node", () => {
  const started = commands.filter(({ command }) => /^(?:npx )?(?:node|vitest) /.test(command));
  expect(started.length).toBeGreaterThan(15);
  // A Node that is older than 24 cannot run TypeScript, and says only that it does not know the extension.
  expect(started.filter(({ command }) => !command.startsWith("npx "))).toEqual([]);
  const files = started.flatMap(({ page, command }) =>
    command
      .split(/\s+/)
      .filter((word) => /^[\w.-]+\/|\.m?[jt]s$/.test(word))
      .map((file) => ({ page, file })),
  );
  // vitest takes the start of a path.
  expect(files.filter(({ file }) => globSync(`${file}*`, { cwd: root }).length === 0)).toEqual([]);
});
