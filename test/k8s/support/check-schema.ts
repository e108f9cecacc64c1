import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { KubernetesObject } from "./kubernetes-object.ts";
import { nameOf } from "./kubernetes-object.ts";
import { hasModel, modelSchemas } from "./model-schemas.ts";

const customResources = join(import.meta.dirname, "../schemas");
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const added = new Set<string>();

/** Returns every field of the objects that is unknown, has the wrong type, or is missing. */
export function schemaViolations(objects: readonly KubernetesObject[]): readonly string[] {
  return objects.flatMap((object) => {
    const name = schemaFor(object);
    if (name === undefined) return [`${nameOf(object)}: unknown type ${object.apiVersion}`];
    if (ajv.validate(name, object)) return [];
    return (ajv.errors ?? []).map(({ instancePath, message, params }) => {
      const { additionalProperty: extra = "" } = params as { readonly additionalProperty?: string };
      return `${nameOf(object)}: ${instancePath} ${message} ${extra}`.trim();
    });
  });
}

/** Registers the schema of an object's kind and returns its name. */
function schemaFor({ apiVersion, kind }: KubernetesObject): string | undefined {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  const model = `${version.replace(/^v/, "V")}${kind}`;
  const custom = `${group}_${version}_${kind}`;
  const file = join(customResources, `${custom}.json`);
  if (existsSync(file)) {
    addModels("V1ObjectMeta");
    addModels("V1PodSpec");
    add(custom, closed(JSON.parse(readFileSync(file, "utf8"))) as object);
    return custom;
  }
  // A group of another vendor may have a kind of the same name.
  if (group.includes(".") && !group.endsWith(".k8s.io")) return undefined;
  if (!hasModel(model)) return undefined;
  addModels(model);
  return model;
}

function addModels(name: string): void {
  if (added.has(name)) return;
  for (const [id, schema] of modelSchemas(name)) add(id, schema);
}

function add(id: string, schema: object): void {
  if (!added.has(id)) ajv.addSchema(schema, id);
  added.add(id);
}

/** Closes a schema as an API server does, but reports fields that the server would drop as errors. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const read = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  if (read["x-kubernetes-int-or-string"] === true) return { ...read, type: ["string", "integer"] };
  if (typeof read["pattern"] === "string") {
    // Go permits a flag on its own.
    read["pattern"] = read["pattern"].replace(/\(\?i\)(.*)$/, "(?i:$1)");
  }
  const isOpen =
    read["x-kubernetes-preserve-unknown-fields"] === true || "additionalProperties" in read;
  if (read["type"] === "object" && typeof read["properties"] === "object" && !isOpen) {
    return { ...read, additionalProperties: false };
  }
  return read;
}
