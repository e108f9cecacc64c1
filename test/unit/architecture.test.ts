import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What a layer of a service may import, besides itself. */
const layers: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ["domain"],
  app: ["ports", "domain"],
  adapters: ["app", "ports", "domain"],
  projections: ["app", "ports", "domain"],
  rpc: ["app", "ports", "domain", "projections"],
};

/** What a package of ours may import of the others. */
const packages: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  platform: ["contracts"],
  log: ["contracts", "platform"],
  store: ["contracts", "platform"],
  memory: ["contracts", "platform", "store"],
  thread: ["agent", "contracts", "platform", "log"],
  agent: ["contracts", "platform"],
};

/** The only packages that the domain of a service may import: contracts, and pure functions over them. */
const pure = ["@reeve/contracts/", "@reeve/agent/", "@bufbuild/protobuf", "ajv", "re2js"];

interface Import {
  readonly file: string;
  readonly target: string;
}

function importsOf(pattern: string): readonly Import[] {
  return globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" })
    .filter((file) => !file.endsWith(".test.ts") && !/\/testing(-[a-z]+)?\.ts$/.test(file))
    .flatMap((file) => {
      const source = readFileSync(join(root, file), "utf8");
      return [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, target = ""]) => ({
        file,
        target: target.startsWith(".") ? normalize(join(dirname(file), target)) : target,
      }));
    });
}

function violationsOf(imports: readonly Import[]): readonly string[] {
  return imports.flatMap(({ file, target }) => {
    const problem = problemWith(file, target);
    return problem === undefined ? [] : [`${file} imports ${target}: ${problem}`];
  });
}

function problemWith(file: string, target: string): string | undefined {
  const [area = "", name = "", , layer = ""] = file.split("/");
  const other = serviceOf(target);
  if (area === "services") {
    if (other !== undefined && other !== name) return "a service never imports another service";
    if (target.startsWith("cli/") || target === "reeve")
      return "a service never imports the command line";
    if (layer === "domain" && !target.startsWith("services/")) {
      if (!pure.some((allowed) => target.startsWith(allowed))) return "the domain is pure";
    }
    const targetLayer = target.startsWith(`services/${name}/src/`)
      ? target.split("/")[3]
      : undefined;
    if (targetLayer === undefined || layer === targetLayer || layers[layer] === undefined)
      return undefined;
    if (layers[targetLayer] === undefined) return undefined;
    return layers[layer].includes(targetLayer)
      ? undefined
      : `${layer} does not know ${targetLayer}`;
  }
  if (area === "packages") {
    if (other !== undefined) return "a package never imports a service";
    const [, of = ""] = /^(?:@reeve|packages)\/([a-z]+)/.exec(target) ?? [];
    if (of === "" || of === name) return undefined;
    return packages[name]?.includes(of) === true ? undefined : `${name} does not know ${of}`;
  }
  return undefined;
}

function serviceOf(target: string): string | undefined {
  const services = ["gateway", "runtime", "toolhost", "approvals"];
  return services.find(
    (service) =>
      target.startsWith(`@reeve/${service}`) || target.startsWith(`services/${service}/`),
  );
}

describe("the direction of dependencies", () => {
  test("holds in every file", () => {
    const imports = importsOf("{services,packages}/*/src/**/*.ts");
    expect(imports.length).toBeGreaterThan(50);
    expect(violationsOf(imports)).toEqual([]);
  });

  test.each([
    ["services/gateway/src/rpc/runs.ts", "@reeve/runtime/serve"],
    ["services/gateway/src/rpc/runs.ts", "services/runtime/src/domain/apply.ts"],
    ["services/runtime/src/domain/apply.ts", "node:fs"],
    ["services/runtime/src/domain/apply.ts", "services/runtime/src/app/drive-run.ts"],
    ["services/runtime/src/app/drive-run.ts", "services/runtime/src/adapters/system-clock.ts"],
    ["packages/log/src/nats-log.ts", "@reeve/gateway/serve"],
    ["packages/contracts/src/channel.ts", "@reeve/platform/failure"],
  ])("is broken when %s imports %s", (file, target) => {
    expect(violationsOf([{ file, target }])).toHaveLength(1);
  });
});

test("files of ours are small: none over 300 lines without blank lines and comments", () => {
  const long = globSync("{services,packages,cli,test,bench,scripts}/**/*.ts", {
    cwd: root,
    exclude: (name) => name === "node_modules" || name === "gen",
  }).filter((file) => !file.endsWith(".test.ts") && linesOf(file) > 300);
  expect(long).toEqual([]);
});

function linesOf(file: string): number {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/?\*)/.test(line)).length;
}
