import { chmod } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { DockerDriver } from "../src/docker/driver.ts";
import { ownerName } from "../src/host/owner.ts";
import { WarmSandboxes } from "../src/lifecycle/warm-sandboxes.ts";
import { collect } from "../src/files/collect.ts";
import { sweepSessions } from "../src/lifecycle/sweep-sessions.ts";
import { limitsOf } from "./support/contract/sandbox-bench.ts";
import { testEngine } from "./support/docker-engine.ts";
import { OwnEngine, whyNoOwnEngine } from "./support/own-engine.ts";
import { newMark } from "./support/new-mark.ts";
import { processesWith } from "./support/processes-with.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const signal = new AbortController().signal;
const given = await testEngine();
const why = "why" in given ? given.why : whyNoOwnEngine();

test.skipIf(why !== undefined)(
  `a killed and restarted engine loses the running commands and leaves nothing of them${why === undefined ? "" : ` (skipped: ${why})`}`,
  async ({ skip }) => {
    if ("why" in given) return;
    const { options } = given;
    await using own = await OwnEngine.start(options.image, options.address);
    if (own === undefined) return skip("this machine cannot start an engine");
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o777);
    const driver = new DockerDriver({ ...options, address: own.address });
    await using warm = new WarmSandboxes(driver, { idleMs: 300_000, maxIdle: 4 });
    const box = warm.sandboxFor(folder.path);
    const mark = newMark();
    const argv = ["/bin/sh", "-c", `echo ready; exec sleep ${mark}`];
    let reason = "";
    for await (const event of box.exec({ argv, limits: limitsOf() }, signal)) {
      if (event.kind === "out") await own.kill();
      if (event.kind === "end") ({ reason } = event);
    }
    expect(reason).toBe("sandbox_lost");
    const print = { argv: ["echo", "fine"], limits: limitsOf() };
    await expect(collect(box, print, signal)).rejects.toThrow(/does not answer.*start it/);
    await own.start();
    expect((await collect(box, print, signal)).text("stdout")).toBe("fine\n");
    const log = { info: () => undefined, warn: () => undefined };
    const sweep = new AbortController();
    const swept = sweepSessions(driver, 200, log, sweep.signal);
    await vi.waitFor(async () => {
      expect(processesWith(mark)).toEqual([]);
      const records = await driver.list(signal);
      const ours = records.filter(({ sessionId }) => sessionId.includes(ownerName() ?? ""));
      expect(ours).toHaveLength(1);
    }, 20_000);
    sweep.abort();
    await swept;
  },
);
