import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { DockerOptions } from "../src/docker/driver.ts";
import { DockerDriver } from "../src/docker/driver.ts";
import { Engine } from "../src/docker/engine.ts";
import { WarmSandboxes } from "../src/lifecycle/warm-sandboxes.ts";
import type { Collected } from "../src/files/collect.ts";
import { collect } from "../src/files/collect.ts";
import type { Sandbox, SandboxSession } from "../src/port.ts";
import { defaultLimits } from "../src/port.ts";
import { limitsOf } from "./support/contract/sandbox-bench.ts";
import { testEngine } from "./support/docker-engine.ts";
import { EngineProxy } from "./support/engine-proxy.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const signal = new AbortController().signal;
const engine = await testEngine();
const why = "why" in engine ? ` (skipped: ${engine.why})` : "";
const resources = new AsyncDisposableStack();
let folder = "";
let workspaceDir = "";

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  workspaceDir = join(folder, "workspace");
  await mkdir(workspaceDir, { mode: 0o777 });
});
afterAll(() => resources.disposeAsync());

/** Returns the driver options of the test engine, with changes. */
function options(other: Partial<DockerOptions> = {}): DockerOptions {
  if ("why" in engine) throw new Error(engine.why);
  return { ...engine.options, ...other };
}

function spec(other: { readonly memoryBytes?: number; readonly workspaceDir?: string } = {}) {
  return { ...defaultLimits, workspaceDir, readOnly: false, ...other };
}

async function api(path: string): Promise<unknown> {
  return await new Engine(options().address).post(path, undefined, signal);
}

/** Runs a long command, calls `disrupt` once it writes, and returns how it ended. */
async function runWhile(
  session: Pick<SandboxSession | Sandbox, "exec">,
  disrupt: () => unknown,
  { timeoutMs = 60_000, until = signal }: { timeoutMs?: number; until?: AbortSignal } = {},
): Promise<Collected["end"]["reason"]> {
  const argv = ["/bin/sh", "-c", "echo ready; exec sleep 600"];
  for await (const event of session.exec({ argv, limits: limitsOf({ timeoutMs }) }, until)) {
    if (event.kind === "out") await disrupt();
    if (event.kind === "end") return event.reason;
  }
  throw new Error("the command has no end event");
}

/** Creates a driver whose engine can be frozen or cut off. */
async function behindProxy() {
  const own = await temporaryFolder();
  const proxy = await EngineProxy.start(own.path, options().address ?? "");
  const driver = new DockerDriver(options({ address: proxy.address }));
  return {
    proxy,
    driver,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

/** Returns the names of all sandboxes in the test engine. */
async function containers(): Promise<readonly string[]> {
  const records = await new DockerDriver(options()).list(signal);
  return records.map(({ sessionId }) => sessionId);
}

describe.skipIf("why" in engine)(`a container${why}`, () => {
  // Requirement: HOST-9
  test("that is killed during a command ends it as lost", async () => {
    await using session = await new DockerDriver(options()).open(spec(), signal);
    const kill = () => api(`/containers/${session.sessionId}/kill`);
    expect(await runWhile(session, kill)).toBe("sandbox_lost");
    await vi.waitFor(
      async () => expect(await containers()).not.toContain(session.sessionId),
      10_000,
    );
  });

  test("that is paused is ended at the time limit of its command", async () => {
    await using session = await new DockerDriver(options()).open(spec(), signal);
    const pause = () => api(`/containers/${session.sessionId}/pause`);
    expect(await runWhile(session, pause, { timeoutMs: 500 })).toBe("timeout");
    await vi.waitFor(
      async () => expect(await containers()).not.toContain(session.sessionId),
      10_000,
    );
  });

  test("that is paused is ended when its command is cancelled", async () => {
    await using session = await new DockerDriver(options()).open(spec(), signal);
    const stop = new AbortController();
    const pause = async () => {
      await api(`/containers/${session.sessionId}/pause`);
      stop.abort();
    };
    expect(await runWhile(session, pause, { until: stop.signal })).toBe("cancelled");
    await vi.waitFor(
      async () => expect(await containers()).not.toContain(session.sessionId),
      10_000,
    );
  });

  test("that was killed while it was idle is replaced without an error", async () => {
    const driver = new DockerDriver(options());
    await using warm = new WarmSandboxes(driver, { idleMs: 300_000, maxIdle: 4 });
    const box = warm.sandboxFor(workspaceDir);
    const before = await containers();
    const print = { argv: ["echo", "fine"], limits: limitsOf() };
    await collect(box, print, signal);
    for (const name of await containers()) {
      if (!before.includes(name)) await api(`/containers/${name}/kill`);
    }
    expect((await collect(box, print, signal)).text("stdout")).toBe("fine\n");
  });
});

describe.skipIf("why" in engine)(
  `a container that cannot start is reported with its reason and a remedy${why}`,
  () => {
    test.each<[string, Partial<DockerOptions>, Parameters<typeof spec>[0], RegExp]>([
      [
        "without its image",
        { image: "engine-missing:1" },
        {},
        /No such image.*sandbox-image\.ts engine-missing:1/s,
      ],
      ["without memory", {}, { memoryBytes: 4_096 }, /memory.*end others/s],
      ["with an unknown runtime", { runtime: "runmoon" }, {}, /runtime.*REEVE_SANDBOX_RUNTIME/s],
      [
        "with a workspace that the engine does not see",
        {},
        { workspaceDir: "/nowhere" },
        /\/nowhere.*same machine/s,
      ],
      [
        "without an engine",
        { address: "unix:///nowhere.sock" },
        {},
        /nowhere\.sock does not answer.*DOCKER_HOST/s,
      ],
    ])("%s", async (_, other, otherSpec, problem) => {
      const opening = new DockerDriver(options(other)).open(spec(otherSpec), signal);
      await expect(opening).rejects.toThrow(problem);
    });

    test("also by a probe, with the available runtimes", async () => {
      const report = await new DockerDriver(options({ runtime: "runmoon" })).probe(signal);
      expect(report).toMatchObject({
        works: false,
        reason: expect.stringMatching(/no runtime runmoon, only .*runc/) as string,
        fixes: [expect.stringContaining("REEVE_SANDBOX_RUNTIME")],
      });
    });
  },
);

describe.skipIf("why" in engine)(`an engine${why}`, () => {
  // Requirement: HOST-9
  test("that goes away ends commands as lost, and runs commands again when it is back", async () => {
    await using own = await behindProxy();
    await using warm = new WarmSandboxes(own.driver, { idleMs: 300_000, maxIdle: 4 });
    const box = warm.sandboxFor(workspaceDir);
    expect(await runWhile(box, () => own.proxy.cut())).toBe("sandbox_lost");
    const print = { argv: ["echo", "fine"], limits: limitsOf() };
    await expect(collect(box, print, signal)).rejects.toThrow(/does not answer.*start it/);
    await own.proxy.listen();
    expect((await collect(box, print, signal)).text("stdout")).toBe("fine\n");
  });

  test("that stops answering does not extend the time limit of a command", async () => {
    await using own = await behindProxy();
    await using session = await own.driver.open(spec(), signal);
    const reason = await runWhile(session, () => own.proxy.freeze(), { timeoutMs: 500 });
    expect(reason).toBe("timeout");
  });

  test("that stops answering during a start does not delay an abort", async () => {
    await using own = await behindProxy();
    await (await own.driver.open(spec(), signal))[Symbol.asyncDispose]();
    own.proxy.freeze();
    const stop = new AbortController();
    const opening = own.driver.open(spec(), stop.signal);
    stop.abort(new DOMException("no longer needed", "AbortError"));
    await expect(opening).rejects.toThrow("no longer needed");
  });
});
