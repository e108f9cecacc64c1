import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import type { RunEvent } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RetryingClientOptions } from "../system/support/retrying-client.ts";
import { everything, RetryingClient } from "../system/support/retrying-client.ts";
import { expectGapless } from "../system/support/watching.ts";
import { Containers } from "./support/containers.ts";
import { because, whySkipped } from "./support/engine.ts";
import { expectDone, expectUnnoticed } from "./support/load.ts";

const reason = whySkipped();

describe.skipIf(reason !== undefined)(`the services in containers${because(reason)}`, () => {
  let containers: Containers;

  beforeAll(async () => {
    // A process without CPU time on a busy machine must not count as dead.
    containers = await Containers.start({ settings: { REEVE_ACK_WAIT_MS: "5000" } });
    const deepAgent = { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) };
    const coding = { permissionClasses: ["execute"], deepAgent };
    await containers.agent("work", coding);
    await containers.agent("publish", { ...coding, hitlTools: ["publish_report"] });
    await containers.agent("slow", coding);
    await containers.agent("talk");
  }, 300_000);

  afterAll(async () => {
    await containers[Symbol.asyncDispose]();
  });

  test("a run executes code in a sandbox, waits for an approval, and publishes", async () => {
    const events = await client({ name: "once", agentId: "publish" }).run();
    expectDone(events);
    const kinds = events.map(({ event }) => event.case);
    expect(kinds.filter((kind) => kind === "approval")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "toolResult")).toHaveLength(2);
  });

  test("a cancelled run produces no more events", async () => {
    const { runs } = containers.reeve;
    const { run } = await runs.startRun({ agentId: "talk", input: "go" });
    const runId = run?.runId ?? "";
    const seen: RunEvent[] = [];
    for await (const { events } of runs.watchRun({ runId, selection: everything })) {
      const isFirstText = !seen.some(isText) && events.some(isText);
      seen.push(...events);
      if (isFirstText) await runs.cancelRun({ runId });
    }
    expectGapless(seen);
    const last = seen.findIndex(({ event }) => event.case === "status" && event.value.status >= 5);
    expect(seen[last]?.event.value).toMatchObject({ status: RunStatus.CANCELLED });
    expect(seen.slice(last).filter(isText)).toEqual([]);
  });

  // Requirement: OPS-7
  test("each service is replaced under load without lost runs or duplicate events", async () => {
    await expectUnnoticed(containers, "publish", async ({ next }) => {
      for (const service of ["runtime", "toolhost", "approvals", "gateway"] as const) {
        const [old] = containers.of(service);
        await containers.add(service);
        await next();
        if (old !== undefined) await containers.end(old);
        await next();
      }
    });
  });

  test("toolhosts scale from one to three and back under load", async () => {
    await expectUnnoticed(containers, "work", async ({ next }) => {
      await Promise.all([containers.add("toolhost"), containers.add("toolhost")]);
      expect(containers.of("toolhost")).toHaveLength(3);
      await next();
      for (const each of containers.of("toolhost").slice(0, 2)) {
        await containers.end(each);
        await next();
      }
    });
    expect(containers.of("toolhost")).toHaveLength(1);
  });

  test("a run continues on another runtime when its own loses NATS, which works again after it reconnects", async () => {
    const [first] = containers.of("runtime");
    if (first === undefined) throw new Error("no runtime is running");
    const begun = Promise.withResolvers<void>();
    const onEvent = () => begun.resolve();
    const watched = client({ name: "cut", agentId: "slow", onEvent }).run();
    await begun.promise;
    const cut = await containers.cutOff(first);
    const second = await containers.add("runtime");
    const events = await watched;
    await cut[Symbol.asyncDispose]();
    expectDone(events);
    const claims = events.flatMap(({ event }) => (event.case === "runClaimed" ? event.value : []));
    expect(new Set(claims.map(({ worker }) => worker)).size).toBe(2);
    await containers.end(second);
    expectDone(await client({ name: "alone", agentId: "work" }).run());
  });

  // Requirement: OPS-7
  test("NATS is killed and restarted under load, and watchers see only a pause", async () => {
    await expectUnnoticed(containers, "work", async ({ next }) => {
      await next();
      await containers.nats.kill("nats-1");
      await containers.nats.startAgain("nats-1");
      await next();
    });
  });

  function client(options: Omit<RetryingClientOptions, "gateways">): RetryingClient {
    return new RetryingClient({ ...options, gateways: () => containers.gateways });
  }
});

function isText({ event }: RunEvent): boolean {
  return event.case === "text";
}
