import { firstCharacters } from "@reeve/agent/text/truncate-characters";

/** The limits of a plan, and of each of its steps. */
const maxSteps = 50;
const maxCharacters = 2_000;

/**
 * Returns the ordered steps in a planner's answer: a JSON array of strings or object with `steps`, or the items of a
 * numbered or dashed list, which may contain JSON. An explicit empty array is an empty plan. Undefined: the answer has no
 * steps.
 */
export function parsePlan(text: string): readonly string[] | undefined {
  const steps = stepsIn(text) ?? separateObject(text) ?? listItems(text) ?? embedded(text);
  return steps
    ?.map((step) => firstCharacters(step.trim().toWellFormed(), maxCharacters))
    .filter((step) => step !== "")
    .slice(0, maxSteps);
}

/**
 * Returns the steps of an object with `steps` on lines of its own. A list before it gives reasons, and a list after it adds
 * notes; between two items of a list, the object belongs to an item.
 */
function separateObject(text: string): readonly string[] | undefined {
  const start = `\n${text}`.indexOf("\n{");
  const object = start === -1 ? undefined : between(text.slice(start), "{", "}");
  if (object === undefined) return undefined;
  const surroundings = [text.slice(0, start), text.slice(start + object.length)];
  const isInList = surroundings.every((part) => listItems(part) !== undefined);
  return isInList ? undefined : stepsIn(object);
}

/** Returns the steps of JSON among words. */
function embedded(text: string): readonly string[] | undefined {
  const fenced = /```(?:json)?[^\S\n]*\n([\s\S]*?)```/.exec(text)?.[1];
  for (const candidate of [fenced, between(text, "{", "}"), between(text, "[", "]")]) {
    const steps = candidate === undefined ? undefined : stepsIn(candidate);
    if (steps !== undefined) return steps;
  }
  return undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const from = text.indexOf(open);
  const to = text.lastIndexOf(close);
  return from === -1 || to < from ? undefined : text.slice(from, to + 1);
}

function stepsIn(json: string): readonly string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const list: unknown =
    typeof value === "object" && value !== null && "steps" in value ? value.steps : value;
  if (!Array.isArray(list)) return undefined;
  const items: readonly unknown[] = list;
  const steps = items.map(textOfStep);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

/** Models write a step as a string, or as an object with a description. */
function textOfStep(item: unknown): string | undefined {
  if (typeof item === "string") return item;
  if (typeof item !== "object" || item === null) return undefined;
  const text = ["step", "description", "title", "task", "text"]
    .map((key) => (item as Readonly<Record<string, unknown>>)[key])
    .find((value) => typeof value === "string");
  return typeof text === "string" ? text : undefined;
}

/** A number, a dash, or a word with a number at the start of a line, in bold or not, and perhaps a box to tick. */
const itemStart =
  /^\s{0,3}(?:\*{0,2}\d{1,3}\\?[.)]\*{0,2}|\*{0,2}[Ss]tep \d{1,3}[.:)]\*{0,2}|[-*+])\s+(?:\[[ xX]\]\s)?([^\n]*)$/;

/** Indented lines below an item belong to it. */
function listItems(text: string): readonly string[] | undefined {
  const items: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const item = itemStart.exec(line)?.[1];
    if (item !== undefined) items.push(item);
    else if (items.length > 0 && /^\s+\S/.test(line)) {
      items.push(`${items.pop() ?? ""}\n${line.trim()}`);
    }
  }
  return items.every((item) => item.trim() === "") ? undefined : items;
}
