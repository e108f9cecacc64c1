import { PermissionClassSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";

export function toolsCommand(context: Context): Command {
  const command = new Command("tools")
    .description("List the tools that agents may use.")
    .option("--json", "print one tool per line as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const tools = await reeve.listTools(context);
      if (json === true) {
        for (const tool of tools) terminal.out(jsonLine(ToolDescriptorSchema, tool));
        return;
      }
      if (tools.length === 0) terminal.note("no tools; start a toolhost\n");
      const rows = tools.map(({ name, permissionClass, source, description }) => [
        oneLine(name, 128),
        PermissionClassSchema.value[permissionClass]?.localName.toLowerCase() ?? "unknown",
        oneLine(source, 64),
        oneLine(description, 80),
      ]);
      terminal.out(table(["TOOL", "CLASS", "SOURCE", "DESCRIPTION"], rows));
    }),
  );
}
