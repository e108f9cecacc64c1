import type { JsonObject } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { LineCounter, isNode, parseDocument, stringify } from "yaml";

/** Something that is wrong with a spec, and where. */
export interface SpecProblem {
  /** Starts at 1. Undefined: the whole spec. */
  readonly line: number | undefined;
  readonly field: string;
  readonly message: string;
}

export interface ReadSpec {
  /** Undefined: the text cannot be read. */
  readonly spec: AgentSpec | undefined;
  readonly problems: readonly SpecProblem[];
  /** Returns the line of a field, such as `hitl_tools[1]`. */
  readonly lineOf: (field: string) => number | undefined;
}

export function specAsYaml(spec: AgentSpec): string {
  return stringify(asJson(spec), { lineWidth: 0, blockQuote: "literal" });
}

export function specAsJson(spec: AgentSpec): string {
  return JSON.stringify(asJson(spec), undefined, 2);
}

/** Reads a spec from YAML or JSON, which is YAML too. */
export function readSpec(text: string): ReadSpec {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineOf = (field: string): number | undefined => {
    for (let path = pathOf(field); path.length > 0; path = path.slice(0, -1)) {
      const node = document.getIn(path, true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  };
  const problems = document.errors.map(({ message, linePos }) => ({
    line: linePos?.[0].line,
    field: "",
    message: message.split("\n", 1)[0] ?? message,
  }));
  if (problems.length > 0) return { spec: undefined, problems, lineOf };
  try {
    // The next line refuses what is no spec.
    const json = document.toJS() as JsonObject | null;
    if (json === null) return { spec: undefined, problems: [emptySpec], lineOf };
    return { spec: fromJson(AgentSpecSchema, json), problems: [], lineOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { spec: undefined, problems: [{ line: undefined, field: "", message }], lineOf };
  }
}

const emptySpec: SpecProblem = {
  line: undefined,
  field: "",
  message: "the spec is empty; it needs an id, a name, and a model",
};

function asJson(spec: AgentSpec) {
  return toJson(AgentSpecSchema, spec, { useProtoFieldName: true });
}

/** Splits `budgets.max_depth` and `hitl_tools[1]` into their parts. */
function pathOf(field: string): readonly (string | number)[] {
  return [...field.matchAll(/([^.[\]]+)/g)].map(([part]) =>
    /^\d+$/.test(part) ? Number(part) : part,
  );
}
