import { describe, expect, test } from "vitest";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { HolderProcess } from "./support/holder-process.ts";
import { startReplicatedStreams } from "./support/replicated-streams.ts";

const reason = whyNoReplicas();

// Requirement: DUR-3
describe.skipIf(reason !== "")(`on three servers${reason}`, () => {
  test("the message of a taker that was killed goes to one at another server, also with another leader", async () => {
    await using streams = await startReplicatedStreams();
    const [, second, third] = streams.connections;
    const killed = await HolderProcess.start(second, "killed");
    const other = await HolderProcess.start(third, "other");
    const one = await killed.publish("run_1");
    const first = await killed.take();
    await killed.isKnownToHold(one);
    await killed.publish("run_2");
    await killed.kill();
    await streams.cluster.stepDown("DISPATCH");
    const taken = [await other.take(), await other.take()];
    expect(taken.find(({ sequence }) => sequence === first.sequence)).toMatchObject({ attempt: 2 });
    for (const delivery of taken) delivery.acknowledge();
    await other.holder[Symbol.asyncDispose]();
  });
});
