import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../../..");

/** The pages that a user reads. */
export const pages: readonly string[] = globSync(
  [
    "{README,CONTRIBUTING}.md",
    "{cli,bench}/README.md",
    "{packages/local,sdk/typescript}/README.md",
    "docs/**/*.md",
  ],
  { cwd: root },
).toSorted();

/** A command line that a page prints in a block for the shell. */
export interface PrintedCommand {
  readonly page: string;
  /** Without its comment. Commands that continue on the next line are joined. */
  readonly line: string;
}

/** Returns the command lines of all pages, in the order in which they are printed. */
export function printedCommands(): readonly PrintedCommand[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const blocks = [...text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, block = ""]) => block);
    return blocks
      .flatMap((block) => block.replaceAll("\\\n", " ").split("\n"))
      .map((line) => line.replace(/(^|\s)# .*$/, "").trim())
      .filter((line) => line !== "")
      .map((line) => ({ page, line }));
  });
}

/** Returns the arguments of a command of the command line, as a shell passes them on. Undefined for another command. */
export function reeveArguments(line: string): readonly string[] | undefined {
  const [, rest] = /^(?:npx (?:@reeve\/cli|reeve)|reeve) (.*)$/.exec(line) ?? [];
  const words = rest?.replace(/ > \S+$/, "").match(/"[^"]*"|'[^']*'|\S+/g);
  return words?.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}
