import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";

/** Something that fits at a place of a spec. */
interface SpecOption {
  readonly label: string;
  /** What it is, such as "list". */
  readonly detail: string;
  /** What is written for it. */
  readonly text: string;
}

/** Names of the deployment that values are chosen from. */
export interface KnownNames {
  readonly models: readonly string[];
  readonly tools: readonly string[];
}

export interface SpecCompletion {
  /** How many characters before the cursor are replaced. */
  readonly replaced: number;
  readonly options: readonly SpecOption[];
}

const modelFields = new Set(["model", "planning_model", "fallback_models"]);
const toolFields = new Set(["tools", "hitl_tools", "allowed_tools", "excluded_tools"]);

/** Returns what fits where the text of a spec in YAML ends. Undefined: nothing is known of this place. */
export function completeSpec(before: string, names: KnownNames): SpecCompletion | undefined {
  // JSON begins with a bracket. Nothing is offered there: it would be written as YAML.
  if (/^\s*[{[]/.test(before)) return undefined;
  const lines = before.split("\n");
  const line = lines.pop() ?? "";
  const value = /^\s*(?:- )?(\w+):\s+([\w:./-]*)$/.exec(line);
  const path = parentsOf(lines, line);
  const section = sectionAt(path);
  if (value !== null) {
    const [, key = "", written = ""] = value;
    const field = section?.fields.find(({ name }) => name === key);
    return completion(written, field === undefined ? [] : valuesOf(field, names));
  }
  const [, dash, written = ""] = /^\s*(- )?([\w:./-]*)$/.exec(line) ?? [];
  if (dash !== undefined) {
    const list = fieldAt(path);
    if (list !== undefined && isList(list) && messageOf(list) === undefined) {
      return completion(written, valuesOf(list, names));
    }
  }
  if (section === undefined || !/^\s*(- )?\w*$/.test(line)) return undefined;
  const indent = " ".repeat(indentOf(line) + 2);
  return completion(
    written,
    section.fields.map((field) => ({
      label: field.name,
      detail: kindOf(field),
      text: startOf(field, indent),
    })),
  );
}

function completion(written: string, options: readonly SpecOption[]): SpecCompletion | undefined {
  return options.length === 0 ? undefined : { replaced: written.length, options };
}

/** Returns the keys that contain a line, the outermost first. */
function parentsOf(lines: readonly string[], line: string): readonly string[] {
  const path: string[] = [];
  let indent = indentOf(line);
  // The items of a list may begin below their key.
  let isItem = /^\s*- /.test(line) || /^\s*-$/.test(line);
  for (const above of lines.toReversed()) {
    const [, space = "", dash = "", key] = /^(\s*)((?:- )?)(\w+):/.exec(above) ?? [];
    if (key === undefined) continue;
    const at = space.length + dash.length;
    if (at < indent || (isItem && dash === "" && at === indent)) {
      path.unshift(key);
      indent = space.length;
      isItem = dash !== "";
    }
  }
  return path;
}

function indentOf(line: string): number {
  return /^\s*/.exec(line)?.[0].length ?? 0;
}

/** Returns the message whose fields are below a path. */
function sectionAt(path: readonly string[]): DescMessage | undefined {
  let section: DescMessage | undefined = AgentSpecSchema;
  for (let at = 0; at < path.length && section !== undefined; at++) {
    const field: DescField | undefined = section.fields.find(({ name }) => name === path[at]);
    section = field === undefined ? undefined : messageOf(field);
    // The next key of the path is one of the map.
    if (field?.fieldKind === "map") at++;
  }
  return section;
}

function fieldAt(path: readonly string[]): DescField | undefined {
  return sectionAt(path.slice(0, -1))?.fields.find(({ name }) => name === path.at(-1));
}

/** Returns the message in a field that has fields of its own in a spec; texts stand for the well-known ones. */
function messageOf(field: DescField): DescMessage | undefined {
  const message = field.message;
  return message?.typeName.startsWith("google.protobuf.") === true ? undefined : message;
}

function valuesOf(field: DescField, { models, tools }: KnownNames): readonly SpecOption[] {
  if (modelFields.has(field.name)) return options(models, "model");
  if (toolFields.has(field.name)) return options(tools, "tool");
  if (field.enum !== undefined) {
    const known = field.enum.values.filter(({ number }) => number !== 0);
    return options(
      known.map(({ name }) => name),
      "choice",
    );
  }
  const isBool = field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL;
  return isBool ? options(["true", "false"], "") : [];
}

function options(labels: readonly string[], detail: string): readonly SpecOption[] {
  return labels.map((label) => ({ label, detail, text: label }));
}

/** A field that may be absent, empty, or have items is a `ListValue`. */
function isList(field: DescField): boolean {
  return field.fieldKind === "list" || field.message?.typeName === "google.protobuf.ListValue";
}

function kindOf(field: DescField): string {
  if (isList(field)) return "list";
  if (field.fieldKind === "map") return "map";
  if (field.fieldKind === "enum") return "choice";
  if (field.fieldKind === "message") return messageOf(field) === undefined ? "value" : "section";
  if (field.scalar === ScalarType.BOOL) return "true or false";
  return field.scalar === ScalarType.STRING ? "text" : "number";
}

function startOf(field: DescField, indent: string): string {
  if (isList(field)) return `${field.name}:\n${indent}- `;
  const hasSection = field.fieldKind === "map" || messageOf(field) !== undefined;
  return hasSection ? `${field.name}:\n${indent}` : `${field.name}: `;
}
