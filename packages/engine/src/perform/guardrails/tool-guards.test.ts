import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { approvalsOf } from "@reeve/run/head/run-head";
import { turnHistory } from "@reeve/run/thread/history/turn-history";
import { describe, expect, test } from "vitest";
import { asText, GuardedRun, guardrails } from "../../../test/support/guarded-run.ts";
import { endOf } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole, resultsOf } from "../../../test/support/worker-bench.ts";

const hello = [{ text: "Hello." }];
const mail = "ann@example.org";

const calling = (args: object) => [
  { calls: [["count", JSON.stringify(args)]] as const },
  { text: "Done." },
];

const judging = (more: object = {}) => [
  { name: "judge", model: { policy: "Only greetings.", ...more }, action: "stop" },
];

const verdict = (text: string) =>
  text === "hi" ? '{"verdict":"pass"}' : '{"verdict":"flag","reason":"no greeting"}';
const silent = () => "I cannot say.";

// Requirement: RES-13
describe("a guard of tools", () => {
  test("refuses a call by its arguments, of the tools that it names only", async () => {
    const tools = [
      { name: "a", tools: ["other"], literals: ["x"], action: "stop" },
      { name: "b", tools: ["co*"], literals: ["x"], action: "refuse" },
    ];
    const run = await new GuardedRun(calling({ q: "x" })).drive(guardrails({ tools }));
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.bench.executed).toEqual([]);
    expect(await run.verdicts()).toEqual(["b: REFUSE"]);
    expect(await resultsOf(run.bench)).toEqual([expect.stringContaining('the guard "b"')]);
  });

  test("replaces texts in arguments, and refuses what it cannot replace", async () => {
    const tools = [{ name: "m", detect: ["email"], on: "arguments", action: "redact" }];
    const run = await new GuardedRun(calling({ to: [mail] })).drive(guardrails({ tools }));
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    const started = (await run.bench.events()).filter(({ event }) => event.case === "toolResult");
    expect(JSON.stringify(started, asText)).toContain("[redacted: email]");
    expect(run.bench.executed).toHaveLength(1);
    const other = await new GuardedRun(calling({ [mail]: 1 })).drive(guardrails({ tools }));
    expect(other.bench.executed).toEqual([]);
    expect(await other.verdicts()).toEqual(["m: REFUSE"]);
  });

  test("replaces what several of them found in one text of arguments", async () => {
    const tools = [
      { name: "a", literals: ["bc"], on: "arguments", action: "redact" },
      { name: "b", literals: ["cd"], on: "arguments", action: "redact" },
    ];
    const run = await new GuardedRun(calling({ q: "abcde" })).drive(guardrails({ tools }));
    const rewritten = (await run.bench.events()).flatMap(({ event }) =>
      event.case === "toolResult" ? [event.value.result?.metadata?.editedArguments] : [],
    );
    expect(rewritten).toEqual(['{"q":"a[redacted: text]e"}']);
  });

  test("asks a person about a call that does not fit a schema", async () => {
    const schema = { properties: { amount: { maximum: 10 } } };
    const tools = [{ name: "large", schema, action: "ask" }];
    const run = await new GuardedRun(calling({ amount: 11 })).drive(guardrails({ tools }));
    const [approval] = approvalsOf(await endOf(run.bench));
    expect(approval?.state).toBe(ApprovalState.PENDING);
    expect(approval?.pluginReasons).toEqual([expect.stringContaining('the guard "large"')]);
    await run.bench.decide(ApprovalState.APPROVED);
    await run.bench.drive("w2", 2);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.bench.executed).toHaveLength(1);
  });

  test("withholds a result or a part of it from the model", async () => {
    for (const [action, expected] of [
      ["refuse", 'the guard \\"one\\" withholds this result'],
      ["redact", "[redacted: text]"],
    ] as const) {
      const tools = [{ name: "one", literals: ["1"], on: "result", action }];
      const run = await new GuardedRun(calling({})).drive(guardrails({ tools }));
      expectWhole(await run.bench.events(), RunStatus.COMPLETED);
      expect(run.read(1)).toContain(expected);
      expect(JSON.stringify(turnHistory(await run.bench.events()), asText)).toContain(expected);
    }
  });
});

// Requirement: RES-13
describe("a guard with a model", () => {
  test("passes or stops by its verdict, whose usage counts", async () => {
    const passed = await new GuardedRun(hello, verdict).drive(guardrails({ input: judging() }), {
      input: "hi",
    });
    expectWhole(await passed.bench.events(), RunStatus.COMPLETED);
    expect(passed.owners).toEqual([passed.requests[0]?.owner]);
    expect((await endOf(passed.bench)).cost).toMatchObject({ llmCalls: 2, inputTokens: 20 });
    const stopped = await new GuardedRun(hello, verdict).drive(guardrails({ input: judging() }));
    expect((await endOf(stopped.bench)).error?.message).toContain("no greeting");
    expect(stopped.requests).toEqual([]);
  });

  test("trips if it gives no verdict, unless it says otherwise", async () => {
    const run = await new GuardedRun(hello, silent).drive(guardrails({ input: judging() }));
    expect((await endOf(run.bench)).error?.message).toContain("could not be checked");
    const allowing = judging({ on_failure: "allow" });
    const passed = await new GuardedRun(hello, silent).drive(guardrails({ input: allowing }));
    expectWhole(await passed.bench.events(), RunStatus.COMPLETED);
    const log = JSON.stringify(await passed.bench.events(), asText);
    expect(log).toContain("its answer is no verdict");
  });

  test("checks nothing without a budget for it, and is not called after a stop", async () => {
    const limited = { budgets: { maxLlmCalls: 1 } };
    const output = [
      { name: "text", literals: ["Hello"], action: "stop" },
      { name: "judge", model: { policy: "p" }, action: "stop" },
    ];
    const run = await new GuardedRun(hello).drive(guardrails({ output }));
    expect(run.checked).toEqual([]);
    const poor = await new GuardedRun(hello).drive({
      ...limited,
      ...guardrails({ output: [output[1] ?? {}] }),
    });
    expect((await endOf(poor.bench)).error?.message).toContain("no model calls left");
  });
});
