import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { mergeCatalogs } from "./merge-catalogs.ts";

interface Given {
  readonly pool?: string;
  readonly host: string;
  readonly isolation?: string;
  readonly atMs?: number;
  readonly tools: readonly (readonly [name: string, description: string])[];
  readonly source?: string;
}

function catalog({
  pool = "default",
  host,
  isolation = "bubblewrap",
  atMs = 0,
  tools,
  source = "",
}: Given) {
  return create(ToolCatalogSchema, {
    pool,
    host,
    isolation,
    announcedAt: timestampFromMs(atMs),
    tools: tools.map(([name, description]) => ({ name, description, pool, source })),
  });
}

function merged(...given: readonly Given[]): readonly string[] {
  return mergeCatalogs(given.map(catalog)).flatMap(({ pool, isolation, tools }) =>
    tools.map(({ name, description }) => `${pool}/${name}: ${description} (${isolation})`),
  );
}

test("the tools of a pool are those of all its hosts, each once", () => {
  const tools = merged(
    { host: "a", atMs: 1, tools: [["read", "old"]] },
    {
      host: "b",
      atMs: 2,
      tools: [
        ["read", "new"],
        ["search", "by b"],
      ],
    },
  );
  expect(tools).toEqual(["default/read: new (bubblewrap)", "default/search: by b (bubblewrap)"]);
});

test("a tool comes with the isolation of a host that isolates, where there is one", () => {
  const tools = merged(
    { host: "a", atMs: 2, isolation: "none", tools: [["run", "bare"]] },
    { host: "b", atMs: 1, tools: [["run", "safe"]] },
  );
  expect(tools).toEqual(["default/run: safe (bubblewrap)"]);
});

test("a name that two pools have stays with both, for others to refuse", () => {
  const tools = merged(
    { host: "a", tools: [["run", "here"]] },
    { host: "b", pool: "gpu", tools: [["run", "there"]] },
  );
  expect(tools).toHaveLength(2);
});

test("whoever says the same in another order is told the same", () => {
  const a: Given = { host: "a", tools: [["run", "by a"]] };
  const b: Given = { host: "b", tools: [["run", "by b"]] };
  expect(merged(a, b)).toEqual(merged(b, a));
});

test("built-in tools that several pools have are those of the pool `default`", () => {
  const source = "builtin";
  const tools = merged(
    {
      host: "a",
      pool: "cpu",
      source,
      tools: [
        ["run", "there"],
        ["glob", "there"],
      ],
    },
    { host: "b", source, tools: [["run", "here"]] },
    { host: "c", pool: "gpu", source, tools: [["glob", "elsewhere"]] },
  );
  expect(tools).toEqual(["default/run: here (bubblewrap)", "cpu/glob: there (bubblewrap)"]);
});
