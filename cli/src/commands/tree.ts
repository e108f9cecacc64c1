import { Command } from "commander";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import { brief, persistently } from "../back-off.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { jsonLine } from "../json-line.ts";
import { renderTree } from "../render/tree-lines.ts";

export function treeCommand(cli: Cli): Command {
  const command = new Command("tree")
    .description("show what a run did: its tool calls and subtasks")
    .argument("<run>", "id of the run")
    .option("--json", "the tree, as JSON");
  return command.action((runId: string, { json }: { readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const read = () => reeve.runs.getExecutionTree({ runId }, { signal: cli.signal });
      const { tree } = await persistently(read, brief, cli.signal);
      if (tree === undefined) return;
      const { terminal } = cli;
      if (json === true) terminal.out(jsonLine(ExecutionTreeSchema, tree));
      else if (tree.nodes.length === 0) terminal.note("no tool calls\n");
      else terminal.out(renderTree(tree, terminal));
    }),
  );
}
