import type { JsonObject } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { outputSchemaProblem } from "@reeve/agent/schema/schema-problem";
import { nameOfClass, permissionClassOf } from "@reeve/agent/tools/permission-classes";
import type {
  ClientManifest,
  ClientTool,
  PermissionClass,
  ToolDescriptor,
} from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";

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

/**
 * Returns the tools of a manifest as runs have them. Throws a Failure with a violation for each problem; `field` is the path of the
 * manifest in the request.
 */
export function manifestTools(
  { clientId, tools }: ClientManifest,
  field: string,
  classes: ClientToolClasses,
): readonly ToolDescriptor[] {
  const violations = tools.flatMap((tool, index) => [
    ...repeatedName(tools, tool, index).map((each) => within(`${field}.tools[${index}]`, each)),
    ...problemsOf(tool, classes).map((each) => within(`${field}.tools[${index}]`, each)),
  ]);
  if (violations.length > 0) throw invalidRequest(violations);
  const described = tools.map((tool) => descriptorOf(tool, `client:${clientId}`));
  const bytes = described.reduce(
    (sum, each) => sum + toBinary(ToolDescriptorSchema, each).length,
    0,
  );
  if (bytes > maxManifestBytes) {
    const description = `the tools have ${bytes} bytes; the limit is ${maxManifestBytes}`;
    throw invalidRequest([{ field: `${field}.tools`, description, reason: "TOO_LARGE" }]);
  }
  return described;
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

function problemsOf(tool: ClientTool, classes: ClientToolClasses): readonly Violation[] {
  return [
    ...classProblem(tool, classes),
    ...timeoutProblem(tool),
    ...schemaProblems("input_schema", tool.inputSchema),
    ...schemaProblems("output_schema", tool.outputSchema),
  ];
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
  if (ms >= minTimeoutMs && ms <= maxMs) return [];
  const description = `has to be between one second and ${max}`;
  return [{ field: "timeout", description, reason: "OUT_OF_RANGE" }];
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
