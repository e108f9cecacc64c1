import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { retryOf } from "@reeve/run/commands/retry-of";
import { expect, test } from "vitest";
import { PlayedRun } from "../../test/support/run-player.ts";

/** Returns the run that continues a run. */
function continued({ events, state: { head } }: PlayedRun): PlayedRun {
  if (head.created === undefined) throw new Error("the run was not created");
  const created = retryOf({ ...head, runId: "run_test" }, head.created, events);
  return new PlayedRun(created.spec, { created });
}

const oneStep: MessageInitShape<typeof AgentSpecSchema> = { maxRounds: 1 };

test("a run continues a failed one with the same prompt, and repeats no call with a result", () => {
  const failed = new PlayedRun({ maxRounds: 2 });
  failed.turn({ name: "search", args: { q: "a" } }).result(0, "one");
  failed.turn({ name: "search", args: { q: "b" } }).result(0, "two");
  expect(failed.end).toBe("error");
  const run = continued(failed);
  expect(run.prompt()).toMatchObject(failed.prompt());
  expect(run.state.head.origin).toEqual(
    expect.objectContaining({ runId: "run_test", sequence: failed.events.length - 5 }),
  );
  expect(run.turn().end).toBe("completed");
  expect(run.all("toolCall")).toEqual([]);
});

test("a run continues one that continued another, with its own limits", () => {
  const first = new PlayedRun(oneStep).turn({ name: "search" }).result(0, "one");
  const second = continued(first).turn({ name: "search" }).result(0, "two");
  expect(second.end).toBe("error");
  const third = continued(second);
  expect(third.resultsSeen()).toEqual(["one", "two"]);
  expect(third.state.head.created?.inherited?.runIds).toEqual(["run_test", "run_test"]);
  expect(third.turn().end).toBe("completed");
});

test("the answer that failed is asked for again", () => {
  const broken = new PlayedRun().turn({ name: "search" }).result(0).says("I wi").fails("refused");
  expect(broken.end).toBe("error");
  expect(continued(broken).prompt().at(-1)).toMatchObject({ role: "tool", content: "found" });
  const filtered = new PlayedRun().answers("I will", "content_filter");
  expect(filtered.end).toBe("error");
  expect(continued(filtered).prompt()).toEqual([{ role: "user", text: "go" }]);
});

test("the model reads that the outcome of a call without a result is unknown", () => {
  const lost = new PlayedRun().turn({ name: "search" }, { name: "search" }).result(1, "two");
  for (let claim = 0; claim < 101; claim++) lost.claimedAnew();
  expect(lost.end).toBe("error");
  expect(continued(lost).resultsSeen()).toEqual([
    expect.stringContaining("its outcome is unknown"),
    "two",
  ]);
});

test("a message that no step had taken up is read first", () => {
  const failed = new PlayedRun(oneStep).turn({ name: "search" }).receivesMessage("and c");
  failed.result(0);
  expect(failed.end).toBe("error");
  expect(continued(failed).prompt().at(-1)).toMatchObject({ role: "user", text: "and c" });
});

test("plan, todos, and the artifacts with large results are those of the failed run", () => {
  const spec = { planningEnabled: true, maxRounds: 1, deepAgent: { planning: true } };
  const failed = new PlayedRun(spec).says('{"steps":["look"]}').turn();
  failed.turn({ name: "write_todos", args: { todos: [{ text: "look" }] } });
  expect(failed.end).toBe("error");
  const run = continued(failed);
  expect(run.state.plan).toEqual(["look"]);
  expect(run.state.todos).toEqual(failed.state.todos);
  expect(run.prompt()).toMatchObject(failed.prompt());
});
