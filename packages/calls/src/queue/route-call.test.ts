import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import {
  PermissionClass,
  ToolDescriptorSchema,
  WorkspaceRecordSchema,
} from "@reeve/contracts/tool";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { describe, expect, test } from "vitest";
import { TableWorkspaceHolders } from "./table-workspace-holders.ts";
import { routeCall } from "./route-call.ts";
import { answers, never, noTools, portsWith, request } from "../../test/support/call-bench.ts";

const workspace = { tenant: "acme", id: "run_1" };

interface Situation {
  readonly peers?: readonly MessageInitShape<typeof ToolhostPresenceSchema>[];
  /** Hosts that have the tool `echo`. */
  readonly offering?: readonly string[];
  readonly deaf?: readonly string[];
  /** Whether this host has the tool, and whether it works on files, or on what is kept beside them. */
  readonly tool?: "files" | "plain" | "web" | "browser" | "none" | "offline";
  readonly holder?: string;
  /** The storage of the files. Absent: there are none yet. */
  readonly place?: string;
  readonly hops?: number;
}

/** Returns where a call goes that this host, `me`, has taken, and who holds the files then. */
async function routed(given: Situation) {
  const { peers = [], offering = [], deaf = [], tool = "files", holder = "", hops = 0 } = given;
  const records = new MemoryTable<WorkspaceRecord>();
  const holders = new TableWorkspaceHolders(records);
  if (holder !== "" || given.place !== undefined) {
    const record = create(WorkspaceRecordSchema, {
      ...workspace,
      holder,
      place: given.place ?? "",
    });
    await records.put("acme.run_1", record, never);
  }
  const living = peers.map((peer) =>
    create(ToolhostPresenceSchema, { pool: "default", slots: 4, ...peer }),
  );
  const isBuiltin = ["files", "web", "browser"].includes(tool);
  const isOfNetwork = ["web", "browser"].includes(tool);
  const descriptor = create(ToolDescriptorSchema, {
    name: "echo",
    source: isBuiltin ? "builtin" : "mcp:far",
    ...(isOfNetwork && { permissionClass: PermissionClass.NETWORK }),
    ...(tool === "browser" && { exclusiveLock: tool }),
  });
  const own = { ...answers, descriptor, isReachable: () => tool !== "offline" };
  const routing = {
    pool: "default",
    holders,
    peers: {
      list: () => living,
      offers: (host: string) => offering.includes(host),
      listens: async (host: string) => !deaf.includes(host),
      isGone: async () => false,
    },
  };
  const ports = portsWith(own);
  const toolbox = tool === "none" ? noTools : ports.toolbox;
  const rest = { ...ports, toolbox, host: "me", routing };
  const route = await routeCall(request(), hops, rest, never);
  return { route, holder: await holders.holderOf(workspace, never) };
}

const here = { kind: "here" };

describe("a call that works on files", () => {
  test("goes to the host that has them", async () => {
    const given = { peers: [{ host: "a" }, { host: "b" }], holder: "b" };
    expect(await routed(given)).toEqual({ route: { kind: "there", host: "b" }, holder: "b" });
  });

  test.each([
    ["no host has them", { peers: [{ host: "a" }] }],
    ["their host has released them", { peers: [{ host: "a" }], place: "disk" }],
    ["their host is gone before it had any", { peers: [{ host: "a" }], holder: "b", deaf: ["b"] }],
  ])("is executed here, where the files are from then on, when %s", async (_, given) => {
    expect(await routed(given)).toEqual({ route: here, holder: "me" });
  });

  test("is executed here, and takes no files without a request when their host seems gone", async () => {
    const given = { peers: [{ host: "a" }], holder: "b", place: "disk", deaf: ["b"] };
    expect(await routed(given)).toEqual({ route: here, holder: "b" });
  });

  test.each([
    ["drains", [{ host: "b", draining: true }]],
    ["was not heard from for a while", [{ host: "a" }]],
  ])(
    "is executed here, and the files are requested from their host, when that %s",
    async (_, peers) => {
      expect(await routed({ peers, holder: "b" })).toEqual({ route: here, holder: "b" });
    },
  );

  test("is executed here without a record when there is no other host", async () => {
    expect(await routed({})).toEqual({ route: here, holder: undefined });
  });

  test("is executed here, and takes nothing from a host of another pool", async () => {
    const given = { peers: [{ host: "b", pool: "gpu" }], holder: "b" };
    expect(await routed(given)).toEqual({ route: here, holder: "b" });
  });

  test("is delayed when their host was heard from but does not listen", async () => {
    const given = { peers: [{ host: "b" }], holder: "b", deaf: ["b"] };
    expect(await routed(given)).toEqual({ route: { kind: "later" }, holder: "b" });
  });

  test("is executed here after too many hops", async () => {
    expect((await routed({ peers: [{ host: "b" }], holder: "b", hops: 3 })).route).toEqual(here);
  });
});

test.each(["plain", "web"] as const)(
  "a call of a tool without files (%s) is executed by the host that took it",
  async (tool) => {
    const given = { tool, peers: [{ host: "b" }], holder: "b" } as const;
    expect((await routed(given)).route).toEqual(here);
    expect((await routed({ tool, peers: [{ host: "b" }] })).holder).toBeUndefined();
  },
);

test("a call of a browser goes to the host of the files, which has it", async () => {
  const given = { tool: "browser", peers: [{ host: "b" }], holder: "b" } as const;
  expect((await routed(given)).route).toEqual({ kind: "there", host: "b" });
});

test.each([
  ["lacks", "none"],
  ["cannot reach", "offline"],
] as const)(
  "a call of a tool that this host %s goes to the host with most free slots that has it",
  async (_, tool) => {
    const peers = [
      { host: "a", busy: 3 },
      { host: "b", busy: 1 },
      { host: "c", busy: 0, draining: true },
      { host: "d", busy: 0 },
    ];
    const offering = ["a", "b", "c"];
    const { route } = await routed({ tool, peers, offering });
    expect(route).toEqual({ kind: "there", host: "b" });
    expect((await routed({ tool, peers })).route).toEqual(here);
  },
);

test("of several hosts that take the files of a gone one at once, one gets them", async () => {
  const holders = new TableWorkspaceHolders(new MemoryTable<WorkspaceRecord>());
  await holders.hold(workspace, { host: "gone", instead: undefined }, never);
  const held = await Promise.all(
    ["a", "b", "c"].map((host) => holders.hold(workspace, { host, instead: "gone" }, never)),
  );
  expect(new Set(held).size).toBe(1);
  expect(await holders.holderOf(workspace, never)).toBe(held[0]);
});
