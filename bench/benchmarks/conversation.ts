import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { RunBatchSchema, RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { StoredBatch } from "@reeve/jetstream/log/stored-batch";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import { openShards } from "@reeve/jetstream/streams/shards/open-shards";
import { SubjectReader } from "@reeve/jetstream/log/reading/subject-reader";
import { startModelServer } from "@reeve/test/support/model-server";
import type { Benchmark, Figure } from "../figure.ts";
import { createAgent, run, tools } from "../runs.ts";
import { System } from "../system.ts";

const turns = 60;
const looks = [10, 30, turns];

/**
 * The growth of a run's log with its conversation, whose turns call a tool that returns a page of text. The floor is the
 * conversation itself: the prompt of that turn, as the model receives it.
 */
export const conversation: Benchmark = {
  name: "conversation",
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using model = await startModelServer();
    await using system = await System.start({ modelUrl: model.url }, signal);
    const agent = {
      id: "talks",
      model: `openai:tool-chain:${turns - 1}`,
      mcpServers: ["bench"],
      allowedTools: tools("mcp__bench__page"),
    };
    await createAgent(system, agent, signal);
    const { runId } = await run(system, "talks", signal);
    const prompts = model.requests.map(({ body }) => Buffer.byteLength(JSON.stringify(body)));
    await using nats = await system.connectNats(signal);
    const [shard] = await openShards(nats.connection, RunBatchSchema);
    if (shard === undefined) throw new Error("the store has no logs of runs");
    const reader = new SubjectReader(nats.connection, shard.place);
    const subject = shard.channel.subject({ tenant: "local", run: runId });
    const { batches } = await reader.after(
      subject,
      emptyTail,
      { maxBytes: Infinity, mayLag: false },
      signal,
    );
    const { byTurn, tree } = sizesOf(batches);
    if (byTurn.length !== turns || prompts.length !== turns) {
      throw new Error(`${prompts.length} prompts and ${byTurn.length} turns, instead of ${turns}`);
    }
    for (const turn of looks) {
      const bytes = byTurn[turn - 1] ?? Number.NaN;
      const prompt = prompts[turn - 1] ?? Number.NaN;
      yield {
        name: `log up to turn ${turn}, per turn; its prompt`,
        unit: "bytes",
        values: [bytes / turn],
        floors: [prompt / turn],
      };
    }
    yield {
      name: `execution tree after ${turns} turns, per turn`,
      unit: "bytes",
      values: [tree / turns],
    };
    const manager = await openJetStreamManager(nats.connection);
    for (const stream of ["RUNS", "TOOL_JOURNAL"]) {
      const { state } = await manager.streams.info(stream);
      yield {
        name: `${turns} turns in ${stream}, all stored bytes; sum of their prompts`,
        unit: "bytes",
        values: [state.bytes],
        floors: [prompts.reduce((sum, prompt) => sum + prompt, 0)],
      };
    }
  },
};

/** Returns the log's size in bytes up to and including each turn of the model, and the size of the execution tree. */
function sizesOf(batches: readonly StoredBatch[]) {
  const byTurn: number[] = [];
  let bytes = 0;
  let tree = 0;
  for (const event of batches.flatMap(({ data }) => fromBinary(RunBatchSchema, data).events)) {
    const size = toBinary(RunEventSchema, event).length;
    if (event.event.case === "treeStored") tree += size;
    else bytes += size;
    if (event.event.case === "modelTurn") byTurn.push(bytes);
  }
  return { byTurn, tree };
}
