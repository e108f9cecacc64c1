import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { mergeCatalogs } from "./merge-catalogs.ts";

interface CatalogInit {
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
}: CatalogInit) {
  return create(ToolCatalogSchema, {
    pool,
    host,
    isolation,
    announcedAt: timestampFromMs(atMs),
    tools: tools.map(([name, description]) => ({ name, description, pool, source })),
  });
}

function merged(...catalogs: readonly CatalogInit[]): readonly string[] {
  return mergeCatalogs(catalogs.map(catalog)).flatMap(({ pool, isolation, tools }) =>
    tools.map(({ name, description }) => `${pool}/${name}: ${description} (${isolation})`),
  );
}

test("a pool has the tools of all its hosts, each once", () => {
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

test("a tool comes from a host that isolates, if there is one", () => {
  const tools = merged(
    { host: "a", atMs: 2, isolation: "none", tools: [["run", "bare"]] },
    { host: "b", atMs: 1, tools: [["run", "safe"]] },
  );
  expect(tools).toEqual(["default/run: safe (bubblewrap)"]);
});

test("a name that two pools offer stays in both, for the caller to reject", () => {
  const tools = merged(
    { host: "a", tools: [["run", "here"]] },
    { host: "b", pool: "gpu", tools: [["run", "there"]] },
  );
  expect(tools).toHaveLength(2);
});

test("the order of the catalogs does not change the result", () => {
  const a: CatalogInit = { host: "a", tools: [["run", "by a"]] };
  const b: CatalogInit = { host: "b", tools: [["run", "by b"]] };
  expect(merged(a, b)).toEqual(merged(b, a));
});

test("a built-in tool stays in each pool that offers it", () => {
  const source = "builtin";
  const tools = merged(
    { host: "a", pool: "gpu", source, tools: [["run", "there"]] },
    { host: "b", source, tools: [["run", "here"]] },
  );
  expect(tools).toEqual(["default/run: here (bubblewrap)", "gpu/run: there (bubblewrap)"]);
});
