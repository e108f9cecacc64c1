import { setImmediate as otherWork } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { compileCost, maxCompileCost } from "@reeve/agent/schema/compile-cost";
import { outputSchemaProblem } from "@reeve/agent/schema/schema-problem";
import { nameOfClass, permissionClassOf } from "@reeve/agent/tools/permission-classes";
import type {
  ClientManifest,
  ClientTool,
  PermissionClass,
  ToolDescriptor,
} from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { Violation } from "@reeve/platform/failure";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import { countValues } from "./count-values.ts";

/** The classes that the deployment permits to tools of clients. */
export type ClientToolClasses = ReadonlySet<PermissionClass>;

const minTimeoutMs = 1_000;
const day = 86_400_000;
/** How long a call waits, by who answers it. */
const timeouts = {
  program: { defaultMs: 60_000, maxMs: 600_000, max: "ten minutes" },
  person: { defaultMs: day, maxMs: 30 * day, max: "30 days" },
} as const;

/** The size of a manifest: each run of its thread records it. */
const maxManifestBytes = 131_072;
/** The values in the schemas of a manifest: an empty one takes four bytes encoded, and 65 in memory. */
const maxManifestValues = 5_000;
/** What compiling one schema may cost, in the units of `maxCompileCost`: nothing else happens meanwhile. */
const maxSchemaCost = 250;

/**
 * Returns the tools of a manifest as runs have them. Throws a Failure with a violation for each problem; `field` is the path of the
 * manifest in the request. Bounds the manifest before it compiles a schema. Other work of the process runs between two schemas.
 */
export async function manifestTools(
  manifest: ClientManifest,
  field: string,
  classes: ClientToolClasses,
  signal: AbortSignal,
): Promise<readonly ToolDescriptor[]> {
  assertEncodable(manifest, field);
  const { clientId, tools } = manifest;
  const described = tools.map((tool) => descriptorOf(tool, `client:${clientId}`));
  assertBounded(tools, described, field);
  const ofSchemas = await problemsOfSchemas(tools, signal);
  assertValid(manifest, field, (tool, index) => [
    ...repeatedName(tools, tool, index),
    ...classProblem(tool, classes),
    ...(ofSchemas[index] ?? []),
  ]);
  return described;
}

/**
 * Throws a Failure with a violation for each value of a manifest that neither JSON nor a log can hold, and if there are more values than a
 * manifest may have. Compiles no schema.
 */
export function assertEncodable(manifest: ClientManifest, field: string): void {
  const values = schemasOf(manifest.tools).reduce((sum, schema) => sum + countValues(schema), 0);
  if (values > maxManifestValues) {
    const description = `the schemas of the tools have ${values} values; the limit is ${maxManifestValues}`;
    throw invalidRequest([{ field: `${field}.tools`, description, reason: "TOO_LARGE" }]);
  }
  assertValid(manifest, field, (tool) => [
    ...timeoutProblem(tool),
    ...storableProblem("description", tool.description),
    ...storableProblem("input_schema", tool.inputSchema),
    ...storableProblem("output_schema", tool.outputSchema),
  ]);
}

function assertValid(
  { tools }: ClientManifest,
  field: string,
  problemsOf: (tool: ClientTool, index: number) => readonly Violation[],
): void {
  const violations = tools.flatMap((tool, index) =>
    problemsOf(tool, index).map((each) => within(`${field}.tools[${index}]`, each)),
  );
  if (violations.length > 0) throw invalidRequest(violations);
}

function assertBounded(
  tools: readonly ClientTool[],
  described: readonly ToolDescriptor[],
  field: string,
): void {
  const bytes = described.reduce(
    (sum, each) => sum + toBinary(ToolDescriptorSchema, each).length,
    0,
  );
  if (bytes > maxManifestBytes) {
    const description = `the tools have ${bytes} bytes; the limit is ${maxManifestBytes}`;
    throw invalidRequest([{ field: `${field}.tools`, description, reason: "TOO_LARGE" }]);
  }
  const costs = schemasOf(tools).map(compileCost);
  const cost = costs.reduce((sum, each) => sum + each, 0);
  if (cost > maxCompileCost || costs.some((each) => each > maxSchemaCost)) {
    const description =
      "compiling the schema of a tool, or of all tools, takes too much work; use fewer subschemas and patterns, or fewer tools";
    throw invalidRequest([{ field: `${field}.tools`, description, reason: "TOO_LARGE" }]);
  }
}

function within(path: string, { field, ...rest }: Violation): Violation {
  return { ...rest, field: `${path}.${field}` };
}

function repeatedName(
  tools: readonly ClientTool[],
  { name }: ClientTool,
  index: number,
): readonly Violation[] {
  if (tools.findIndex((each) => each.name === name) === index) return [];
  const description = `the manifest has two tools with the name ${name}; rename one of them`;
  return [{ field: "name", description, reason: "TOOL_ID_CONFLICT" }];
}

function classProblem(
  { permissionClass }: ClientTool,
  classes: ClientToolClasses,
): readonly Violation[] {
  const found = permissionClassOf(permissionClass || defaultClass);
  if (found !== undefined && classes.has(found)) return [];
  const permitted = [...classes].map(nameOfClass).join(", ");
  const description = `the class "${permissionClass || defaultClass}" is not permitted to clients; use one of ${permitted || "none"}, or have the operator add it to REEVE_CLIENT_TOOL_CLASSES`;
  return [{ field: "permission_class", description, reason: "CLASS_NOT_PERMITTED" }];
}

const defaultClass = "network";

function timeoutProblem({ timeout, answeredByPerson }: ClientTool): readonly Violation[] {
  if (timeout === undefined) return [];
  const { maxMs, max } = answeredByPerson ? timeouts.person : timeouts.program;
  const ms = durationMs(timeout);
  const hasNanos = timeout.nanos >= 0 && timeout.nanos < 1_000_000_000;
  if (hasNanos && ms >= minTimeoutMs && ms <= maxMs) return [];
  const description = `has to be between one second and ${max}`;
  return [{ field: "timeout", description, reason: "OUT_OF_RANGE" }];
}

function storableProblem(
  field: string,
  value: JsonObject | string | undefined,
): readonly Violation[] {
  if (isStorable(value, maxLevels)) return [];
  const description = `is nested deeper than ${maxLevels} levels, or has a number or text that JSON cannot hold`;
  return [{ field, description, reason: "INVALID_VALUE" }];
}

/** How deep a schema may be nested: the logs of runs store it. */
const maxLevels = 20;

async function problemsOfSchemas(
  tools: readonly ClientTool[],
  signal: AbortSignal,
): Promise<readonly (readonly Violation[])[]> {
  const problems: Violation[][] = [];
  for (const { inputSchema, outputSchema } of tools) {
    const found = schemaProblems("input_schema", inputSchema);
    await otherWork();
    problems.push([...found, ...schemaProblems("output_schema", outputSchema)]);
    await otherWork();
    signal.throwIfAborted();
  }
  return problems;
}

function schemasOf(tools: readonly ClientTool[]): readonly JsonObject[] {
  return tools.flatMap(({ inputSchema = {}, outputSchema = {} }) => [inputSchema, outputSchema]);
}

function schemaProblems(field: string, schema: JsonObject | undefined): readonly Violation[] {
  if (schema === undefined) return [];
  const { type = "object" } = schema;
  const problem = type === "object" ? outputSchemaProblem(schema) : 'its type has to be "object"';
  return problem === undefined ? [] : [{ field, description: problem, reason: "INVALID_SCHEMA" }];
}

function descriptorOf(tool: ClientTool, source: string): ToolDescriptor {
  const { name, description, inputSchema, answeredByPerson, outputSchema } = tool;
  const { defaultMs } = answeredByPerson ? timeouts.person : timeouts.program;
  const permissionClass = permissionClassOf(tool.permissionClass || defaultClass);
  return create(ToolDescriptorSchema, {
    name,
    description,
    inputSchema: { ...inputSchema, type: "object" },
    ...(permissionClass !== undefined && { permissionClass }),
    // The default, whether or not a client writes it: two descriptions of the same tool are equal.
    parallelSafe: tool.parallelSafe ?? true,
    source,
    client: {
      timeout: tool.timeout ?? durationFromMs(defaultMs),
      answeredByPerson,
      ...(outputSchema && { outputSchema }),
    },
  });
}
