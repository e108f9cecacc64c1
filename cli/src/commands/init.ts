import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { Command, Option } from "commander";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-code.ts";
import { quoted } from "../reeve-command.ts";

const examples = join(import.meta.dirname, "../../../examples");

/** The examples that a user can start with, and the commands that use them in a folder. */
const starts = {
  "csv-report": (folder: string, reeve: string) => [
    `${reeve} up`,
    `${reeve} agents apply -f ${folder}/agent.yaml`,
    `${reeve} run csv-report "Summarize the file." --file ${folder}/sales.csv=data.csv --watch`,
  ],
  "release-check": (folder: string, reeve: string) => [
    `REEVE_SCRIPTS=${folder}/scripts ${reeve} up`,
    `${reeve} agents apply -f ${folder}/agent.yaml`,
    `${reeve} run release-check "Can version 2.0 be released?" --watch`,
  ],
} as const;

interface Options {
  readonly example: keyof typeof starts;
}

/** Writes the files of an example, as the start of the user's own. */
export function initCommand(context: Context): Command {
  return new Command("init")
    .description("Write an agent to start with into a folder, and print the commands that use it.")
    .argument("[folder]", "folder for the files (default: the name of the example)")
    .addOption(
      new Option("--example <name>", "what to write")
        .choices(Object.keys(starts))
        .default("csv-report"),
    )
    .action((given: string | undefined, { example }: Options) => {
      const folder = resolve(given ?? example);
      const from = join(examples, example);
      const taken = readdirSync(from).filter((name) => existsSync(join(folder, name)));
      if (taken.length > 0) {
        throw new UsageError(
          `${folder} already has ${taken.join(", ")}; nothing was written, choose another folder`,
        );
      }
      mkdirSync(folder, { recursive: true });
      cpSync(from, folder, { recursive: true });
      const short = quoted(relative(process.cwd(), folder) || ".");
      const { terminal, reeve } = context;
      const commands = starts[example](short, reeve).map((line) => `  ${line}\n`);
      terminal.out(`${readdirSync(from).join(", ")} written to ${short}\n\n${commands.join("")}`);
    });
}
