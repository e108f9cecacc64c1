/**
 * Extracts the schema of one custom resource from its definition: `node test/k8s/schemas/trim.ts CRD.yaml VERSION`. Omits
  * descriptions and the status, and refers to Kubernetes' own schema for pods.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parse } from "yaml";

type Schema = Record<string, unknown>;

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema & { properties: Schema } };
    }[];
  };
}

const podTemplate = { metadata: { $ref: "V1ObjectMeta" }, spec: { $ref: "V1PodSpec" } };

const [file = "", version = ""] = process.argv.slice(2);
const { spec } = parse(readFileSync(file, "utf8")) as Definition;
const found = spec.versions.find(({ name }) => name === version);
if (found === undefined) throw new Error(`${file} has no version ${version}`);
const schema = found.schema.openAPIV3Schema;
delete schema.properties["status"];
schema.properties["metadata"] = { $ref: "V1ObjectMeta" };
const target = join(import.meta.dirname, `${spec.group}_${version}_${spec.names.kind}.json`);
writeFileSync(target, `${JSON.stringify(trimmed(schema))}\n`);

function trimmed(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => trimmed(item));
  if (typeof value !== "object" || value === null) return value;
  if (name === "podTemplate" && "properties" in value) {
    return { type: "object", properties: podTemplate, required: ["spec"] };
  }
  const kept = Object.entries(value).filter(
    ([key, member]) =>
      !(key === "description" && typeof member === "string") && key !== "x-kubernetes-validations",
  );
  return Object.fromEntries(kept.map(([key, member]) => [key, trimmed(member, key)]));
}
