import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

/** Where the statements of the requirements are, relative to the root of the repository. */
export const catalogFile = "docs/requirements.yaml";

/** How far Reeve meets a requirement. */
export type Status = "tested" | "partial" | "refused" | "not yet";

export interface Requirement {
  readonly id: string;
  readonly statement: string;
  readonly status: Status;
  /** What is missing, or how the request is refused. Empty if `status` is `tested`. */
  readonly note: string;
}

export interface Section {
  readonly name: string;
  readonly title: string;
  readonly requirements: readonly Requirement[];
}

const text = z.string().min(1);
const entrySchema = z.union([
  text,
  z.strictObject({ rule: text, partial: text }),
  z.strictObject({ rule: text, refused: text }),
  z.strictObject({ rule: text, "not yet": text }),
]);
const sectionSchema = z.strictObject({
  title: text,
  requirements: z.record(z.string().regex(/^\d+$/), entrySchema),
});
const catalogSchema = z.record(z.string().regex(/^[A-Z]+$/), sectionSchema);

/** Returns the sections of the catalog under `root`, in the order of the file; requirements are sorted by number. */
export function readCatalog(root: string): readonly Section[] {
  const sections = catalogSchema.parse(parse(readFileSync(join(root, catalogFile), "utf8")));
  return Object.entries(sections).map(([name, { title, requirements }]) => ({
    name,
    title,
    requirements: Object.entries(requirements)
      .toSorted(([one], [other]) => Number(one) - Number(other))
      .map(([number, entry]) => requirementOf(`${name}-${number}`, entry)),
  }));
}

function requirementOf(id: string, entry: z.infer<typeof entrySchema>): Requirement {
  if (typeof entry === "string") return { id, statement: entry, status: "tested", note: "" };
  const { rule: statement } = entry;
  if ("partial" in entry) return { id, statement, status: "partial", note: entry.partial };
  if ("refused" in entry) return { id, statement, status: "refused", note: entry.refused };
  return { id, statement, status: "not yet", note: entry["not yet"] };
}
