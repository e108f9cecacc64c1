import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, describe, test } from "vitest";
import type { Import } from "./architecture/imports.ts";
import { importsOf, sourceFiles } from "./architecture/imports.ts";
import { cyclesOf } from "./architecture/cycles.ts";
import { impurityIn, packageOrder, problemWith } from "./architecture/rules.ts";

const root = join(import.meta.dirname, "../..");
const files = sourceFiles(root);
const imports = files.flatMap((file) => importsOf(root, file));

function violationsOf(some: readonly Import[]): readonly string[] {
  return some.flatMap(({ file, target }) => {
    const problem = problemWith(file, target);
    return problem === undefined ? [] : [`${file} imports ${target}: ${problem}`];
  });
}

describe("the direction of dependencies", () => {
  test("holds in every file", () => {
    expect(imports.length).toBeGreaterThan(2_000);
    expect(violationsOf(imports)).toEqual([]);
  });

  test.each([
    ["services/gateway/src/rpc/runs.ts", "services/runtime/src/serve.ts"],
    ["services/gateway/src/rpc/runs.ts", "cli/src/embedded/start-embedded.ts"],
    ["services/gateway/src/app/start-run.ts", "services/gateway/src/rpc/run-service.ts"],
    ["packages/jetstream/src/log/nats.ts", "services/gateway/src/serve.ts"],
    ["packages/contracts/src/channel.ts", "packages/platform/src/failure.ts"],
    ["packages/jetstream/src/log/nats.ts", "packages/run/src/head/run-head.ts"],
    ["packages/run/src/head/run-head.ts", "packages/engine/src/domain/build-batch.ts"],
    ["packages/sandbox/src/port.ts", "packages/calls/src/ports/tool.ts"],
    ["packages/sandbox/src/docker/driver.ts", "packages/sandbox/src/bubblewrap/spec.ts"],
    ["services/toolhost/src/workspaces/x.ts", "services/toolhost/src/pool/presence.ts"],
    ["services/toolhost/src/tools/mcp/x.ts", "services/toolhost/src/workspaces/x.ts"],
    ["packages/engine/src/domain/build-batch.ts", "node:fs"],
    ["packages/engine/src/domain/build-batch.ts", "packages/engine/src/drive/drive-run.ts"],
    ["packages/engine/src/domain/build-batch.ts", "packages/jetstream/src/log/port.ts"],
    ["packages/engine/src/ports/run-ports.ts", "packages/engine/src/drive/drive-run.ts"],
    ["packages/run/src/head/run-head.ts", "@nats-io/transport-node"],
    ["sdk/typescript/src/client.ts", "packages/platform/src/failure.ts"],
    ["console/src/run/fold-run.ts", "packages/engine/src/domain/next-facts.ts"],
    ["console/src/run/fold-run.ts", "packages/agent/src/policy/caller-policy.ts"],
    ["console/src/api/transport.ts", "node:fs"],
  ])("is broken when %s imports %s", (file, target) => {
    expect(violationsOf([{ file, target, specifier: target }])).toHaveLength(1);
  });
});

describe("pure files", () => {
  test("read no clock, no random numbers, and do no I/O", () => {
    const impure = files.flatMap((file) => {
      const found = impurityIn(file, readFileSync(join(root, file), "utf8"));
      return found === undefined ? [] : [`${file} uses ${found}`];
    });
    expect(impure).toEqual([]);
  });

  test.each(["Date.now()", "Math.random()", "process.env", "setTimeout(run, 5)"])(
    "are impure when they use %s",
    (code) => {
      expect(impurityIn("packages/engine/src/domain/next-facts.ts", code)).toBeDefined();
    },
  );
});

describe("packages", () => {
  test("are all part of the order", () => {
    const names = new Set(files.flatMap((file) => /^packages\/([a-z]+)\//.exec(file)?.[1] ?? []));
    expect([...names].toSorted()).toEqual(Object.keys(packageOrder).toSorted());
  });

  test("are imported through their exports only", () => {
    expect(imports.filter(passesExports)).toEqual([]);
  });

  test("are imported past their exports when a relative path leads into them", () => {
    const file = "services/gateway/src/serve.ts";
    const target = "packages/run/src/head/run-head.ts";
    const specifier = "../../../packages/run/src/head/run-head.ts";
    expect(passesExports({ file, target, specifier })).toBe(true);
  });

  test("name each export", () => {
    const manifests = ["packages", "services", "cli", "sdk"].flatMap((area) =>
      [...new Set(files.filter((file) => file.startsWith(`${area}/`)).map(packageOf))].map(
        (folder) => `${folder}/package.json`,
      ),
    );
    const wildcards = manifests.filter((file) =>
      Object.keys(exportsOf(readFileSync(join(root, file), "utf8"))).some((key) =>
        key.includes("*"),
      ),
    );
    expect(wildcards).toEqual([]);
  });
});

describe("imports", () => {
  test("have no cycle, type imports included", () => {
    expect(cyclesOf(imports)).toEqual([]);
  });

  test("have a cycle when two files import each other", () => {
    const planted = [
      { file: "a.ts", target: "b.ts", specifier: "./b.ts" },
      { file: "b.ts", target: "a.ts", specifier: "./a.ts" },
    ];
    expect(cyclesOf(planted)).toHaveLength(1);
  });
});

describe("files and folders", () => {
  test("no file has more than 300 lines without blank lines and comments", () => {
    const long = files.filter((file) => !/\.test\.tsx?$/.test(file) && linesOf(file) > 300);
    expect(long).toEqual([]);
  });

  test("no folder has more than 20 source files", () => {
    expect(crowded(files)).toEqual([]);
  });

  test("a folder with 21 source files is found", () => {
    const planted = Array.from({ length: 21 }, (_, index) => `packages/run/src/x/${index}.ts`);
    expect(crowded(planted)).toEqual(["packages/run/src/x"]);
  });

  test("no test double is part of a src folder", () => {
    const doubles = files.filter((file) => /\/src\/(.*\/)?testing[^/]*\.ts$/.test(file));
    expect(doubles).toEqual([]);
  });
});

/** Whether an import reaches into another workspace by a relative path. */
function passesExports({ file, target, specifier }: Import): boolean {
  if (!specifier.startsWith(".") || !/^(packages|services|cli|sdk)\//.test(target)) return false;
  return packageOf(file) !== packageOf(target) && !target.includes("/gen/");
}

function packageOf(file: string): string {
  const [area = "", name = ""] = file.split("/");
  return area === "packages" || area === "services" || area === "sdk" ? `${area}/${name}` : area;
}

function exportsOf(manifest: string): Record<string, string> {
  const { exports = {} } = JSON.parse(manifest) as { exports?: Record<string, string> };
  return exports;
}

function crowded(all: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const file of all) {
    if (file.endsWith(".test.ts")) continue;
    const folder = file.slice(0, file.lastIndexOf("/"));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) => (count > 20 ? [folder] : []));
}

function linesOf(file: string): number {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/?\*)/.test(line)).length;
}
