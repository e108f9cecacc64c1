import { Command } from "commander";
import { PermissionClassSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { jsonLine } from "../json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";

/** Lists what agents may call. */
export function toolsCommand(cli: Cli): Command {
  const command = new Command("tools")
    .description("list the tools of the deployment")
    .option("--json", "one tool a line, as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const { tools } = await reeve.tools.listTools({}, { signal: cli.signal });
      if (json === true) {
        for (const tool of tools) cli.terminal.out(jsonLine(ToolDescriptorSchema, tool));
        return;
      }
      if (tools.length === 0) cli.terminal.note("no toolhost has announced a tool\n");
      const rows = tools.map(({ name, permissionClass, source, description }) => [
        oneLine(name, 128),
        PermissionClassSchema.value[permissionClass]?.localName.toLowerCase() ?? "unknown",
        oneLine(source, 64),
        oneLine(description, 80),
      ]);
      cli.terminal.out(table(["TOOL", "CLASS", "SOURCE", "WHAT IT DOES"], rows));
    }),
  );
}
