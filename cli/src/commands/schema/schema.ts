import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Argument, Command } from "commander";
import type { Context } from "../../context.ts";

/** The folder of the JSON Schemas, relative to the root. */
export const schemasFolder = "docs/schemas";

const folder = join(import.meta.dirname, "../../../..", schemasFolder);

/** The files that people write, and what they configure. */
const files = [
  "agent",
  "models",
  "stored-models",
  "limits",
  "policy",
  "quotas",
  "mcp-servers",
  "tool-providers",
] as const;

/** Prints the JSON Schema of a file, with which editors complete and check it. */
export function schemaCommand({ terminal }: Pick<Context, "terminal">): Command {
  return new Command("schema")
    .description("Print the JSON Schema of a configuration file, for your editor.")
    .addArgument(new Argument("<file>", "kind of file").choices(files))
    .action((name: (typeof files)[number]) => {
      terminal.out(readFileSync(join(folder, `${name}.schema.json`), "utf8"));
    });
}
