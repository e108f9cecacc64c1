import type { Agent } from "@reeve/client";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import type { NodeType } from "@reeve/contracts/extensions/workflow";
import { NodeTypeSchema } from "@reeve/contracts/extensions/workflow";
import { PermissionClassSchema } from "@reeve/contracts/tool";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";
import { oneLine } from "../../render/plain-text.ts";
import { getCommand, validateCommand } from "../agents.ts";
import { printList } from "../print-list.ts";

/** Lists, checks, and exports workflows, which are agents with a graph. */
export function workflowsCommand(context: Context): Command {
  const validate = validateCommand(context, assertWorkflow).description(
    "Check the file of a workflow and list everything that is wrong with it. Stores nothing.",
  );
  const exported = getCommand(context, assertWorkflow)
    .name("export")
    .description("Print a workflow as the YAML file from which `reeve agents apply` stores it.");
  return new Command("workflows")
    .description(
      "Manage workflows: agents with a graph of nodes. `reeve agents apply` stores them, `reeve run` runs them.",
    )
    .addCommand(listCommand(context))
    .addCommand(nodesCommand(context))
    .addCommand(validate)
    .addCommand(exported);
}

/** Throws a UsageError if an agent has no workflow. */
function assertWorkflow({ id, workflow }: AgentSpec): void {
  if (workflow !== undefined) return;
  const name = oneLine(id, 63);
  throw new UsageError(`the agent "${name}" has no workflow; use \`reeve agents\` for it`);
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List workflows.")
    .option("--json", "print one workflow per line as JSON");
  const format = {
    header: ["WORKFLOW", "REVISION", "BY", "NODES", "NAME"],
    row: rowOf,
    empty: "no workflows",
  };
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const workflows = reeve.agents.list({ ...context, hasWorkflow: true });
      await printList(context.terminal, AgentSchema, workflows, format, json === true);
    }),
  );
}

function rowOf({ spec, revision, createdBy }: Agent): readonly string[] {
  return [
    oneLine(spec?.id ?? "", 63),
    String(revision),
    oneLine(createdBy, 40),
    String(spec?.workflow?.nodes.length ?? 0),
    oneLine(spec?.name ?? "", 60),
  ];
}

interface NodesOptions {
  readonly agent?: string;
  readonly json?: true;
}

function nodesCommand(context: Context): Command {
  const command = new Command("nodes")
    .description("List the types of nodes that workflows may have.")
    .argument("[query]", "words to search for in ids, titles, and descriptions")
    .option("--agent <agent>", "only the tools and delegates of this agent")
    .option("--json", "print one type per line as JSON");
  const format = {
    header: ["TYPE", "CLASS", "COST", "INPUTS", "OUTPUTS", "DESCRIPTION"],
    row: nodeRowOf,
    empty: "no node types",
  };
  return command.action((query: string | undefined, { agent, json }: NodesOptions) =>
    withClient(context, command, async (reeve) => {
      const types = reeve.workflows.nodeTypes({
        ...context,
        query: query ?? "",
        agentId: agent ?? "",
      });
      await printList(context.terminal, NodeTypeSchema, types, format, json === true);
    }),
  );
}

/** Inputs that a node requires have a star. */
function nodeRowOf(type: NodeType): readonly string[] {
  const inputs = type.inputs.map(({ handle, required }) => `${handle}${required ? "*" : ""}`);
  const about = type.problem === "" ? type.description : `not available: ${type.problem}`;
  return [
    oneLine(type.id, 128),
    PermissionClassSchema.value[type.permissionClass]?.localName.toLowerCase() ?? "unknown",
    type.costHint,
    oneLine([...inputs, ...(type.takesOtherInputs ? ["…"] : [])].join(" "), 60),
    oneLine(type.outputs.map(({ handle }) => handle).join(" "), 40),
    oneLine(about, 80),
  ];
}
