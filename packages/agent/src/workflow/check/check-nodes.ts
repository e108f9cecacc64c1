import type { JsonObject } from "@bufbuild/protobuf";
import type { Workflow, WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { Violation } from "@reeve/platform/failure";
import { compileSchema } from "../../schema/compile-schema.ts";
import { answerSchemaProblem, schemaProblem } from "../../schema/schema-problem.ts";
import { compileCost } from "../../schema/compile-cost.ts";
import { operandProblem } from "../condition.ts";
import { isInputName } from "../handles.ts";
import { toolOf } from "../node-call.ts";
import { calledTypeOf, itemInputOf, nodeTypeOf } from "../node-catalog.ts";
import { constantsOf } from "../node-inputs.ts";
import type { NodeTarget } from "../node-target.ts";
import { mapTargetOf, namingProperty, requestTool, targetOf } from "../node-target.ts";
import type { NodeType } from "../node-type.ts";
import { nodeKinds } from "../node-type.ts";
import { constantProblem } from "./type-fit.ts";
import type { CheckContext } from "./check-context.ts";

/** Returns what is wrong with the nodes of a workflow, each by itself. */
export function checkNodes(
  { nodes }: Pick<Workflow, "nodes">,
  context: CheckContext,
): readonly Violation[] {
  const ids = new Set<string>();
  let inputs = 0;
  return nodes.flatMap((node, index): readonly Violation[] => {
    const field = `workflow.nodes[${index}]`;
    const isRepeated = ids.has(node.id);
    ids.add(node.id);
    if (targetOf(node)?.kind === "input") inputs++;
    return [
      ...(isRepeated ? [repeated(node, field)] : []),
      ...(targetOf(node)?.kind === "input" && inputs > 1 ? [secondInput(field)] : []),
      ...nodeViolations(node, field, context),
    ];
  });
}

function repeated({ id }: WorkflowNode, field: string): Violation {
  const description = `another node has the id "${id}" too; give each its own`;
  return { field: `${field}.id`, description, reason: "DUPLICATE_NODE_ID" };
}

function secondInput(field: string): Violation {
  const description = "a workflow has one node of the type input; connect it to several nodes";
  return { field: `${field}.type`, description, reason: "MULTIPLE_INPUTS" };
}

function nodeViolations(
  node: WorkflowNode,
  field: string,
  context: CheckContext,
): readonly Violation[] {
  const target = targetOf(node);
  const type = nodeTypeOf(node, context.catalog);
  if (target === undefined || type === undefined) return [unknownType(node, field, context)];
  if (type.problem !== "") {
    return [{ field: `${field}.type`, description: type.problem, reason: "UNIMPLEMENTED" }];
  }
  const ofProperties = propertyViolations(node, type, field);
  const property = namingProperty(target.kind);
  const hasProperty = property !== undefined && node.properties?.[property] !== undefined;
  // A node of the type http that names no tool uses the default one.
  const isNamed = node.type !== target.kind || (target.kind === "http" && !hasProperty);
  const called = `${field}.${isNamed ? "type" : `properties.${property ?? "code"}`}`;
  return [
    ...ofProperties,
    ...(property !== undefined && target.name === ""
      ? []
      : callViolations(target, called, context)),
    ...ownViolations(node, target, `${field}.properties`, context),
    ...constantViolations(node, type, `${field}.properties.inputs`, context),
  ];
}

function unknownType({ type }: WorkflowNode, field: string, { suggest }: CheckContext): Violation {
  const known = nodeKinds.join(", ");
  const description = `node type "${type.slice(0, 128)}" does not exist${suggest(type, nodeKinds)}; the types are ${known}, and those of tools and agents, such as tool:<name> and agent:<id>`;
  return { field: `${field}.type`, description, reason: "UNKNOWN_NODE_TYPE" };
}

/** Returns all violations of the properties by the schema of the type. */
function propertyViolations(
  { properties = {} }: WorkflowNode,
  { propertiesSchema }: NodeType,
  field: string,
): readonly Violation[] {
  const compiled = compileSchema(propertiesSchema);
  const errors = compiled.kind === "compiled" ? compiled.errorsOf(properties) : undefined;
  if (errors === undefined) {
    const description = "takes too much work to check; use fewer properties";
    return [{ field: `${field}.properties`, description, reason: "MALFORMED" }];
  }
  return errors.map(({ instancePath, params, message = "is not valid" }) => {
    const path = instancePath.slice(1).replaceAll("/", ".");
    const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
    const key = missingProperty ?? additionalProperty ?? "";
    const parts = ["properties", path, key].filter((part) => part !== "");
    const [reason, description] =
      missingProperty !== undefined
        ? ["REQUIRED", "is required"]
        : additionalProperty !== undefined
          ? ["UNKNOWN_PROPERTY", "is no property of nodes of this type"]
          : ["MALFORMED", message];
    return { field: `${field}.${parts.join(".")}`, description, reason };
  });
}

/** Returns why the agent cannot make the calls of a node. */
function callViolations(
  target: NodeTarget,
  field: string,
  { catalog, excluded, delegates, suggest }: CheckContext,
): readonly Violation[] {
  const { kind, name } = target;
  const tool = toolOf(target);
  if (tool === undefined) return [];
  if (kind === "agent" || kind === "workflow") {
    return agentViolations(kind, name, field, { catalog, delegates, suggest });
  }
  if (catalog.tools.some((each) => each.name === tool)) return [];
  const names = catalog.tools.map((each) => each.name);
  const why = excluded.get(tool) ?? unofferedReason(tool, () => suggest(tool, names));
  const need =
    tool !== name
      ? `nodes of the type ${kind} need the tool; `
      : kind === "http" && tool === requestTool
        ? "nodes of the type http use it unless their property tool names another one; "
        : "";
  const description = `the agent does not have the tool "${tool}": ${need}${why}`;
  return [{ field, description, reason: "TOOL_NOT_FOUND" }];
}

function unofferedReason(tool: string, suggested: () => string): string {
  return tool === requestTool
    ? "no toolhost offers it; set REEVE_NETWORK_ALLOW of one"
    : `nothing offers it${suggested()}`;
}

function agentViolations(
  kind: "agent" | "workflow",
  name: string,
  field: string,
  { catalog, delegates, suggest }: Pick<CheckContext, "catalog" | "delegates" | "suggest">,
): readonly Violation[] {
  if (!delegates.includes(name)) {
    const description = `"${name}" is not one of the delegates of the agent${suggest(name, delegates)}; add it to \`delegates\``;
    return [{ field, description, reason: "AGENT_NOT_FOUND" }];
  }
  const agent = catalog.agents.find(({ id }) => id === name);
  if (agent === undefined || agent.hasWorkflow === (kind === "workflow")) return [];
  const other = agent.hasWorkflow ? "a workflow" : "an agent without a workflow";
  const description = `"${name}" is ${other}; use the type ${agent.hasWorkflow ? "workflow" : "agent"}`;
  return [{ field, description, reason: "WRONG_NODE_TYPE" }];
}

/** Returns the violations that only one kind of nodes can have. */
function ownViolations(
  node: WorkflowNode,
  { kind }: NodeTarget,
  field: string,
  context: CheckContext,
): readonly Violation[] {
  const { properties = {} } = node;
  switch (kind) {
    case "condition": {
      const description = operandProblem(properties);
      return description === undefined
        ? []
        : [{ field: `${field}.operand`, description, reason: "MALFORMED" }];
    }
    case "input":
      return schemaViolations(properties["schema"], `${field}.schema`, schemaProblem, context);
    case "model":
      return schemaViolations(
        properties["output_schema"],
        `${field}.output_schema`,
        answerSchemaProblem,
        context,
      );
    case "map":
      return mapViolations(node, field, context);
    default:
      return [];
  }
}

function schemaViolations(
  schema: unknown,
  field: string,
  problemOf: (schema: JsonObject) => string | undefined,
  { mayCompile }: CheckContext,
): readonly Violation[] {
  // The schema of the properties accepts objects only.
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return [];
  const known = schema as JsonObject;
  if (!mayCompile(compileCost(known))) {
    const description =
      "with those before it, takes too much work to compile; use fewer or smaller schemas";
    return [{ field, description, reason: "TOO_LARGE" }];
  }
  const problem = problemOf(known);
  const description = `is not a valid JSON Schema: ${problem}`;
  return problem === undefined ? [] : [{ field, description, reason: "MALFORMED" }];
}

function mapViolations(
  node: WorkflowNode,
  field: string,
  context: CheckContext,
): readonly Violation[] {
  const target = mapTargetOf(node);
  const named = `${field}.node_type`;
  const isMapped =
    target?.kind === "tool" || target?.kind === "agent" || target?.kind === "workflow";
  if (target === undefined || !isMapped) {
    const description = "must be tool:<name>, agent:<id>, or workflow:<id>";
    const isSet = typeof node.properties?.["node_type"] === "string";
    return isSet ? [{ field: named, description, reason: "UNKNOWN_NODE_TYPE" }] : [];
  }
  const called = callViolations(target, named, context);
  if (called.length > 0) return called;
  const type = calledTypeOf(node, context.catalog);
  if (type === undefined || itemInputOf(node, type) !== undefined) return [];
  const description = `${target.name} has several inputs; name the one that takes the item`;
  return [{ field: `${field}.item_input`, description, reason: "REQUIRED" }];
}

function constantViolations(
  node: WorkflowNode,
  { inputs, takesOtherInputs }: NodeType,
  field: string,
  context: CheckContext,
): readonly Violation[] {
  const ports = new Map(inputs.map((port) => [port.handle, port]));
  return Object.entries(constantsOf(node)).flatMap(([handle, value]): readonly Violation[] => {
    const port = ports.get(handle);
    const path = `${field}.${handle}`;
    if (port === undefined && !takesOtherInputs) {
      const description = `the node has no input "${handle}"${context.suggest(handle, ports.keys())}`;
      return [{ field: path, description, reason: "UNKNOWN_HANDLE" }];
    }
    if (port === undefined && !isInputName(handle)) {
      const description = "is no name of an input: use no dots and no control characters";
      return [{ field: path, description, reason: "MALFORMED" }];
    }
    const description = port && constantProblem(value, port.schema, context.typesOf);
    return description === undefined ? [] : [{ field: path, description, reason: "TYPE_MISMATCH" }];
  });
}
