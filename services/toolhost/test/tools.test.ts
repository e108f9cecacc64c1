import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { create, fromJson } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { ToolResult } from "@reeve/contracts/tool";
import {
  CallCancelledSchema,
  ToolCallRequestSchema,
  ToolCallSchema,
  ToolDescriptorSchema,
  ToolSettingsSchema,
  ToolStatus,
  WorkspaceSchema,
} from "@reeve/contracts/tool";
import { memoryCallJournal } from "@reeve/log/memory-log";
import { emptyTail } from "@reeve/log/log";
import { createLogger } from "@reeve/platform/logger";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probeBubblewrap } from "../src/adapters/bubblewrap/probe-bubblewrap.ts";
import type { Workspaces } from "../src/adapters/workspaces.ts";
import { openWorkspaces } from "../src/adapters/workspaces.ts";
import { executeCall } from "../src/app/execute-call.ts";
import type { HostPorts } from "../src/app/host-ports.ts";
import { journalFact, ownCall } from "../src/app/own-call.ts";
import { runTool } from "../src/app/run-tool.ts";
import type { Tool } from "../src/app/tool.ts";
import { succeeded } from "../src/app/tool.ts";
import { executeCode } from "../src/app/tools/execute-code.ts";
import { fileTools } from "../src/app/tools/file-tools.ts";
import { runCommand } from "../src/app/tools/run-command.ts";
import type { Sandbox } from "../src/ports/sandbox.ts";

const never = new AbortController().signal;
const user = process.getuid?.() === 0 ? { uid: 64_017, gid: 64_017 } : undefined;
const folder = mkdtempSync(join(tmpdir(), "reeve-tools-"));
const artifacts = new MemoryArtifactStore({ maxBytes: 1_000_000 });
const script = (name: string) =>
  readFileSync(join(import.meta.dirname, "../sandbox", name), "utf8");
const tools = new Map<string, Tool>(
  [executeCode(script("run_code.py")), runCommand, ...fileTools(script("files.py"), artifacts)].map(
    (tool) => [tool.descriptor.name, tool],
  ),
);
let workspaces: Workspaces;
let open: (workspaceDir: string) => Sandbox;

beforeAll(async () => {
  await chmod(folder, 0o711);
  workspaces = await openWorkspaces(folder, user, artifacts);
  const probe = await probeBubblewrap(workspaces.root, user, never);
  if (probe.kind === "unusable") throw new Error(`${probe.why}; ${probe.fix}`);
  open = (workspaceDir) => probe.driver.open(workspaceDir);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function called(
  name: string,
  args: JsonObject,
  { run = "run_1", imports }: { run?: string; imports?: readonly string[] } = {},
): Promise<ToolResult> {
  const workspace = create(WorkspaceSchema, { id: run });
  const settings = create(
    ToolSettingsSchema,
    imports ? { allowedImports: fromJson(ListValueSchema, [...imports]) } : {},
  );
  return await runTool(
    tools,
    create(ToolCallSchema, { callId: `${run}-1-0`, name, arguments: args }),
    {
      tenant: "acme",
      runId: run,
      settings,
      sandbox: async () => open(await workspaces.ready("acme", workspace, never)),
      progress: () => undefined,
    },
    never,
  );
}

const content = async (...call: Parameters<typeof called>): Promise<Record<string, unknown>> =>
  JSON.parse((await called(...call)).content) as Record<string, unknown>;

describe("execute_code", () => {
  test("gives output, the value of the last expression, and success", async () => {
    const code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n6 * 7";
    expect(await content("execute_code", { code }, { imports: ["sys"] })).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
      result: "42",
      success: true,
    });
  });

  test("gives a string as it is and nothing for a statement", async () => {
    expect(await content("execute_code", { code: "'a\\nb'" })).toMatchObject({ result: "a\nb" });
    expect(await content("execute_code", { code: "x = 1" })).toMatchObject({
      result: null,
      success: true,
    });
  });

  test("tells of an exception, with its line", async () => {
    const result = await content("execute_code", { code: "x = 1\nraise ValueError('no')" });
    expect(result).toMatchObject({ success: false, result: null });
    expect(result["stderr"]).toContain("ValueError: no");
    expect(result["stderr"]).toContain("line 2");
  });

  test("refuses what is not on the list of imports, before anything runs", async () => {
    const code = "open('ran.txt', 'w')\nimport socket";
    const result = await content("execute_code", { code }, { run: "run_2" });
    expect(result["stderr"]).toContain("not allowed to import: socket");
    const missing = await called("read_file", { path: "ran.txt" }, { run: "run_2" });
    expect(missing.content).toBe("ran.txt does not exist");
  });

  test("permits os.path and not os", async () => {
    expect(
      await content("execute_code", { code: "import os.path\nfrom os import path\n1" }),
    ).toMatchObject({ success: true });
    expect(await content("execute_code", { code: "import os" })).toMatchObject({ success: false });
  });

  test("ends at its time limit, and says so", async () => {
    const result = await called("execute_code", { code: "while True: pass", timeout: 0.5 });
    expect(result.metadata).toMatchObject({
      status: ToolStatus.TIMED_OUT,
      endReason: "timeout",
      isolation: "bubblewrap",
    });
    expect(result.isError).toBe(true);
  });

  test("does not believe a forged report that is none", async () => {
    const code = "import os\nos.write(3, b'nonsense')\nos._exit(0)";
    expect(await content("execute_code", { code }, { imports: ["os"] })).toMatchObject({
      success: false,
    });
  });
});

describe("run_command", () => {
  test("runs a program with its arguments as they are, without a shell", async () => {
    expect(await content("run_command", { command: ["echo", "$HOME", "*"] })).toMatchObject({
      stdout: "$HOME *\n",
      exit_code: 0,
      success: true,
    });
  });

  test("refuses what is on the blacklist", async () => {
    expect((await called("run_command", { command: ["env", "rm", "-rf", "/"] })).content).toBe(
      "the command rm is not allowed here",
    );
  });

  test("says what a program that does not exist came to", async () => {
    expect(await content("run_command", { command: ["no-such-program"] })).toMatchObject({
      success: false,
    });
  });
});

describe("the file tools", () => {
  test("write with folders, and read all or some lines", async () => {
    const written = await called("write_file", { path: "a/b/c.txt", content: "1\n2\n3\n" });
    expect(written.content).toBe("wrote 6 bytes to a/b/c.txt");
    expect((await called("read_file", { path: "a/b/c.txt" })).content).toBe("1\n2\n3\n");
    expect((await called("read_file", { path: "a/b/c.txt", offset: 1, limit: 1 })).content).toBe(
      "2\n",
    );
  });

  test.each(["../x", "/etc/hostname", "a/../../x", "link/x"])(
    "refuse the path %s",
    async (path) => {
      await called(
        "execute_code",
        { code: "import os\nos.path.lexists('link') or os.symlink('/tmp', 'link')" },
        { imports: ["os"] },
      );
      for (const [tool, args] of [
        ["read_file", { path }],
        ["write_file", { path, content: "x" }],
      ] as const) {
        const result = await called(tool, args);
        expect(result.isError).toBe(true);
      }
    },
  );

  test("refuse a pipe, a folder and a file that is too large", async () => {
    const code =
      "import os\nos.mkfifo('pipe')\nos.mkdir('folder')\nopen('large', 'wb').truncate(2_000_000)";
    await called("execute_code", { code }, { imports: ["os"], run: "run_3" });
    const read = async (path: string) =>
      (await called("read_file", { path }, { run: "run_3" })).content;
    expect(await read("pipe")).toBe("pipe is no regular file");
    expect(await read("folder")).toMatch(/folder is (a folder|no regular file)/);
    expect(await read("large")).toContain("at most 1048576 can be read");
  });

  test("publish a file once for a call", async () => {
    await called("write_file", { path: "report.md", content: "# Report" });
    const first = await content("publish_report", { path: "report.md" });
    expect(await content("publish_report", { path: "report.md" })).toEqual(first);
    expect(await artifacts.list("acme", never)).toHaveLength(1);
  });
});

test("arguments that do not fit, and a tool that there is not, are results", async () => {
  expect((await called("read_file", {})).content).toContain("must have required property 'path'");
  expect((await called("nothing", {})).content).toBe('this toolhost has no tool "nothing"');
});

function host(name: string, journal = memoryCallJournal(), ran = { times: 0 }) {
  const count: Tool = {
    descriptor: create(ToolDescriptorSchema, { name: "count" }),
    run: async (_, signal) => {
      ran.times++;
      if (name === "hangs")
        await new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      return succeeded("counted");
    },
  };
  const ports: HostPorts = {
    journal,
    tools: () => new Map([["count", count]]),
    sandbox: () => Promise.reject(new Error("there is none")),
    running: new Set(),
    host: name,
    heartbeatMs: 1_000,
    logger: createLogger("test", "silent"),
  };
  return { ports, journal, ran };
}

describe("a call from the queue", () => {
  const key = { tenant: "acme", run: "run_q", call: "run_q-1-0" };
  const request = (idempotent = false) =>
    create(ToolCallRequestSchema, {
      tenant: "acme",
      runId: "run_q",
      call: { callId: key.call, name: "count" },
      idempotent,
    });

  const delivery = (message = request(), sequence = 1, settled: string[] = []) => ({
    message,
    sequence,
    attempt: 1,
    extend: () => undefined,
    acknowledge: () => void settled.push("acknowledged"),
    giveBack: () => void settled.push("given back"),
    forget: () => void settled.push("forgotten"),
  });

  const kinds = async (journal: ReturnType<typeof memoryCallJournal>) =>
    (await journal.read(key, emptyTail, never)).events.map(({ fact }) => fact.case);

  test("is executed once, however often it is delivered after its result", async () => {
    const { ports, journal, ran } = host("a");
    const settled: string[] = [];
    await executeCall(delivery(request(), 1, settled), ports, never);
    await executeCall(delivery(request(), 1, settled), ports, never);
    expect(ran.times).toBe(1);
    expect(settled).toEqual(["acknowledged", "acknowledged"]);
    expect(await kinds(journal)).toEqual(["started", "result"]);
  });

  async function lost(idempotent: boolean) {
    const { journal, ran } = host("dead");
    await ownCall({ journal, host: "dead" }, key, request(idempotent), 1, never);
    const alive = host("alive", journal, ran);
    await executeCall(delivery(request(idempotent), 1), alive.ports, never);
    return { journal, ran };
  }

  test("whose host fell silent is executed again if its tool permits that", async () => {
    const { journal, ran } = await lost(true);
    expect(ran.times).toBe(1);
    expect(await kinds(journal)).toEqual(["started", "started", "result"]);
  });

  test("whose host fell silent ends with an unknown outcome otherwise", async () => {
    const { journal, ran } = await lost(false);
    expect(ran.times).toBe(0);
    const { events } = await journal.read(key, emptyTail, never);
    expect(events.at(-1)?.fact.value).toMatchObject({
      isError: true,
      content: expect.stringContaining("unknown"),
    });
  });

  test("that another message has started is left alone", async () => {
    const { journal, ran } = host("other");
    await ownCall({ journal, host: "other" }, key, request(), 1, never);
    const settled: string[] = [];
    await executeCall(delivery(request(), 2, settled), host("b", journal, ran).ports, never);
    expect({ settled, times: ran.times }).toEqual({ settled: ["acknowledged"], times: 0 });
  });

  test("that is delivered again while it runs here stays with its first delivery", async () => {
    const { ports, journal } = host("hangs");
    const stop = new AbortController();
    const running = executeCall(delivery(), ports, stop.signal);
    const settled: string[] = [];
    await executeCall(delivery(request(), 1, settled), ports, never);
    expect(settled).toEqual(["forgotten"]);
    for await (const { events } of journal.follow(key, 0, never)) if (events.length > 0) break;
    stop.abort();
    await running;
    expect(await kinds(journal)).toEqual(["started"]);
  });

  test("ends when its journal says that it was cancelled, and says nothing more", async () => {
    const { ports, journal } = host("hangs");
    const running = executeCall(delivery(), ports, never);
    for await (const { tail } of journal.follow(key, 0, never)) {
      const cancelled = journalFact({ case: "cancelled", value: create(CallCancelledSchema) });
      await journal.append(key, tail, [cancelled], never);
      break;
    }
    await running;
    expect(await kinds(journal)).toEqual(["started", "cancelled"]);
  });
});
