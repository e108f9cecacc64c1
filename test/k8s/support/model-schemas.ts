import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder in which the Kubernetes client declares its types, by name. */
const models = join(
  dirname(fileURLToPath(import.meta.resolve("@kubernetes/client-node"))),
  "gen/models",
);

type Schema = Readonly<Record<string, unknown>>;

/** Types without a declaration of their own. */
const plain: Readonly<Record<string, Schema>> = {
  string: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  Date: { type: "string" },
  any: {},
  object: {},
  IntOrString: { type: ["string", "integer"] },
};

/** Returns whether Kubernetes has a type of this name. */
export function hasModel(name: string): boolean {
  return /^\w+$/.test(name) && existsSync(join(models, `${name}.d.ts`));
}

/**
 * Returns the JSON Schemas of a Kubernetes type and of all types that it uses, by name. Objects are closed: an unknown field
 * is an error.
 */
export function modelSchemas(name: string): ReadonlyMap<string, Schema> {
  const schemas = new Map<string, Schema>();
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (schemas.has(next)) continue;
    schemas.set(
      next,
      schemaOf(next, (used) => open.push(used)),
    );
  }
  return schemas;
}

function schemaOf(name: string, use: (name: string) => void): Schema {
  const source = readFileSync(join(models, `${name}.d.ts`), "utf8");
  const [, body = ""] =
    /export declare class \w+ \{(.*?)static readonly discriminator/s.exec(
      source.replace(/\/\*.*?\*\//gs, ""),
    ) ?? [];
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [, member = "", optional, type = ""] of body.matchAll(
    /'([^']+)'(\?)?:\s*((?:\{[^}]*\}|[^;{])+);/g,
  )) {
    // Names that are reserved in TypeScript have an underscore.
    const field = member.replace(/^_/, "");
    properties[field] = schemaOfType(type.replace(/\s+/g, " ").trim(), use);
    if (optional === undefined) required.push(field);
  }
  return { $id: name, type: "object", properties, required, additionalProperties: false };
}

function schemaOfType(type: string, use: (name: string) => void): Schema {
  const [, item] = /^(?:Array|Set)<(.+)>$/.exec(type) ?? [];
  if (item !== undefined) return { type: "array", items: schemaOfType(item, use) };
  const [, value] = /^\{ \[key: string\]: (.+); \}$/.exec(type) ?? [];
  if (value !== undefined) {
    return { type: "object", additionalProperties: schemaOfType(value, use) };
  }
  const known = plain[type];
  if (known !== undefined) return known;
  if (!hasModel(type)) throw new Error(`the Kubernetes client has no type ${type}`);
  use(type);
  return { $ref: type };
}
