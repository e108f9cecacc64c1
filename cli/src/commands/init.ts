import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { Command, Option } from "commander";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-code.ts";
import { quoted } from "../reeve-command.ts";
import { schemasFolder } from "./schema/schema.ts";

const root = join(import.meta.dirname, "../../..");

/** An example that a user can start with. */
interface Start {
  /** What it writes: the files of the new folder, and where they come from. */
  readonly files: Readonly<Record<string, string>>;
  /** The commands that use it in a folder. */
  commands(folder: string, reeve: string): readonly string[];
}

/** The JSON Schema that the agent file of an example names. */
const agentSchema = "agent.schema.json";
const contract = "reeve/tool/v1/tool_provider.proto";
const starts: Readonly<Record<string, Start>> = {
  "csv-report": {
    files: filesOf("csv-report", ["agent.yaml", "sales.csv"]),
    commands: (folder, reeve) => [
      `${reeve} up`,
      `${reeve} agents apply -f ${folder}/agent.yaml`,
      `${reeve} run csv-report "Summarize the file." --file ${folder}/sales.csv=data.csv --watch`,
    ],
  },
  "release-check": {
    files: filesOf("release-check", ["agent.yaml", "scripts"]),
    commands: (folder, reeve) => [
      `REEVE_SCRIPTS=${folder}/scripts ${reeve} up`,
      `${reeve} agents apply -f ${folder}/agent.yaml`,
      `${reeve} run release-check "Can version 2.0 be released?" --watch`,
    ],
  },
  "tool-provider": {
    files: {
      ...filesOf("tool-provider-python", [
        "agent.yaml",
        "provider.py",
        "providers.json",
        "requirements.txt",
        "scripts",
      ]),
      [contract]: join("proto", contract),
    },
    commands: (folder, reeve) => [
      `python3 -m venv ${folder}/.venv && ${folder}/.venv/bin/pip install -r ${folder}/requirements.txt`,
      `${folder}/.venv/bin/python -m grpc_tools.protoc -I ${folder} --python_out=${folder} --grpc_python_out=${folder} ${contract}`,
      `PROVIDER_TOKEN=secret ${folder}/.venv/bin/python ${folder}/provider.py 127.0.0.1:50071`,
      `PROVIDER_TOKEN=secret REEVE_PROVIDERS_CONFIG=${folder}/providers.json REEVE_SCRIPTS=${folder}/scripts ${reeve} up`,
      `${reeve} agents apply -f ${folder}/agent.yaml`,
      `${reeve} run statistician "What are the mean and the median of 3, 4, and 8?" --watch`,
    ],
  },
};

function filesOf(example: string, names: readonly string[]): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(names.map((name) => [name, join("examples", example, name)])),
    [agentSchema]: join(schemasFolder, agentSchema),
  };
}

interface Options {
  readonly example: string;
}

/** Writes the files of an example, as the start of the user's own. */
export function initCommand(context: Context): Command {
  return new Command("init")
    .description(
      "Write an example to start with into a folder, and print the commands that use it.",
    )
    .argument("[folder]", "folder for the files (default: the name of the example)")
    .addOption(
      new Option("--example <name>", "what to write")
        .choices(Object.keys(starts))
        .default("csv-report"),
    )
    .action((given: string | undefined, { example }: Options) => {
      const start = starts[example];
      // The option permits only examples that exist.
      if (start === undefined) throw new UsageError(`there is no example ${example}`);
      const folder = resolve(given ?? example);
      const names = Object.keys(start.files);
      const taken = names.filter((name) => existsSync(join(folder, name)));
      if (taken.length > 0) {
        throw new UsageError(
          `${folder} already has ${taken.join(", ")}; nothing was written, choose another folder`,
        );
      }
      write(start, folder);
      const short = quoted(relative(process.cwd(), folder) || ".");
      const { terminal, reeve } = context;
      const commands = start.commands(short, reeve).map((line) => `  ${line}\n`);
      terminal.out(`${names.join(", ")} written to ${short}\n\n${commands.join("")}`);
    });
}

/** Writes the files of an example. Throws a UsageError if the folder cannot be written. */
function write({ files }: Start, folder: string): void {
  try {
    for (const [name, from] of Object.entries(files)) {
      const to = join(folder, name);
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(root, from), to, { recursive: true });
    }
    const agent = join(folder, "agent.yaml");
    const text = readFileSync(agent, "utf8");
    // The examples of the repository name the schema by its place there.
    writeFileSync(agent, text.replace(/(?<=\$schema=)\S+/, agentSchema));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${folder} cannot be written: ${problem}; choose another folder`);
  }
}
