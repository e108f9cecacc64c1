import type { Violation } from "@reeve/platform/failure";

/** Collects named parts, such as tools and models, and what is wrong with them, so that all of it is reported together. */
export class PartCollection {
  readonly #problems: Violation[] = [];

  /** What is wrong with the parts so far, each with its place, such as `tools["clock"]`. */
  get problems(): readonly Violation[] {
    return this.#problems;
  }

  /** Adds a part under its name. Keeps the first of several with one name, and reports the others. */
  add<Part>(parts: Map<string, Part>, kind: string, name: string, part: Part): void {
    if (!parts.has(name)) parts.set(name, part);
    else {
      const description = "is given twice; remove one, or give it another name";
      this.#problems.push({ field: placeOf(kind, name), description, reason: "REPEATED" });
    }
  }

  /** Adds a part under the name in its descriptor. Types do not hold in JavaScript: reports one that has none. */
  addDescribed<Part>(parts: Map<string, Part>, kind: string, part: Part): void {
    const name = describedName(part);
    if (name === undefined) this.refuse(kind, "has no descriptor with a name");
    else this.add(parts, kind, name, part);
  }

  /** Reports a part that has no name to report it by. */
  refuse(kind: string, description: string): void {
    this.#problems.push({
      field: kind,
      description: `one of them ${description}`,
      reason: "MALFORMED",
    });
  }

  /** Reports what is wrong with a part, with paths relative to it. */
  report(kind: string, name: string, violations: readonly Violation[]): void {
    this.#problems.push(...violationsAt(placeOf(kind, name), violations));
  }
}

/** Returns violations with paths that begin with a place. */
export function violationsAt(
  place: string,
  violations: readonly Violation[],
): readonly Violation[] {
  return violations.map((each) => ({
    ...each,
    field: each.field === "" ? place : `${place}.${each.field}`,
  }));
}

/** Returns the place of a part, such as `agents["writer"]`. */
export function placeOf(kind: string, name: string): string {
  return `${kind}[${JSON.stringify(name)}]`;
}

function describedName(part: unknown): string | undefined {
  if (typeof part !== "object" || part === null || !("descriptor" in part)) return undefined;
  const { descriptor } = part;
  if (typeof descriptor !== "object" || descriptor === null || !("name" in descriptor)) {
    return undefined;
  }
  return typeof descriptor.name === "string" ? descriptor.name : undefined;
}
