import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { appendExternal } from "@reeve/run/commands/append-external";
import { approvalsOf } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { turnHistory } from "@reeve/run/thread/history/turn-history";
import { describe, expect, test } from "vitest";
import { GuardedRun, guardrails } from "../../../test/support/guarded-run.ts";
import { endOf } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole, key, resultsOf } from "../../../test/support/worker-bench.ts";

const hello = [{ text: "Hello." }];
const mail = "ann@example.org";

// Requirement: RES-13
describe("a guard of the input", () => {
  test("stops a run before its first step, and says what it found without repeating it", async () => {
    const input = [{ name: "no-mail", detect: ["email"], action: "stop" }];
    const run = await new GuardedRun(hello).drive(guardrails({ input }), { input: mail });
    expect(run.requests).toEqual([]);
    const { error } = await endOf(run.bench);
    expect(error?.reason).toBe("guardrail_tripped");
    expect(error?.message).toContain('the guard "no-mail" stopped the run: it contains a text of');
    expect(error?.message).not.toContain(mail);
  });

  test("replaces what the model and the planner read, and what later turns read", async () => {
    const input = [{ name: "no-mail", detect: ["email"], action: "redact" }];
    const spec = { planningEnabled: true, ...guardrails({ input }) };
    const created = {
      input: `I am ${mail}.`,
      messages: [{ role: Role.USER, text: `Was ${mail}.` }],
    };
    const run = await new GuardedRun(hello).drive(spec, created);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.requests.length).toBe(2);
    for (const index of [0, 1]) {
      expect(run.read(index)).toContain("I am [redacted: email].");
      expect(run.read(index)).toContain("Was [redacted: email].");
      expect(run.read(index)).not.toContain(mail);
    }
    const history = JSON.stringify(turnHistory(await run.bench.events()), noBytes);
    expect(history).toContain("I am [redacted: email].");
    expect(history).not.toContain(mail);
  });
});

test("a guard of the input looks at messages that are sent later", async () => {
  const input = [{ name: "no-mail", detect: ["email"], action: "redact" }];
  const run = new GuardedRun(hello);
  await run.bench.create(guardrails({ input }));
  const message = { role: Role.USER, text: `Ask ${mail}.` };
  const facts = [{ case: "messageSubmitted" as const, value: { messageId: "m", message } }];
  const ports = { log: run.bench.log, dispatch: run.bench.dispatch };
  await appendExternal(ports, key, () => facts, new AbortController().signal);
  await run.bench.drive("w");
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  expect(run.read(0)).toContain("Ask [redacted: email].");
  expect(JSON.stringify(turnHistory(await run.bench.events()), noBytes)).not.toContain(mail);
});

test("guards of a delegate look at its task, its calls, and its answer; those of the agent at its calls", async () => {
  const run = new GuardedRun(({ messages, tools }) => {
    const isLead = tools.some(({ name }) => name === "agent_run_helper");
    const turns = messages.filter(({ role }) => role === "verbatim").length;
    if (isLead) {
      const prompt = JSON.stringify({ prompt: `Ask ${mail}.` });
      return turns === 0 ? { calls: [["agent_run_helper", prompt]] } : { text: "Done." };
    }
    if (turns === 0) return { calls: [["count", '{"q":"x"}']] };
    return { text: turns === 1 ? "damn" : "Sorry." };
  });
  const ofHelper = {
    input: [{ name: "no-mail", detect: ["email"], action: "redact" }],
    output: [{ name: "tone", literals: ["damn"], action: "refuse" }],
  };
  const helper = { id: "helper", name: "helper", model: "test:x", ...guardrails(ofHelper) };
  const tools = [{ name: "no-x", tools: ["count"], literals: ["x"], action: "refuse" }];
  await run.drive(
    { delegates: ["helper"], ...guardrails({ tools }) },
    { delegates: [{ agentId: "helper", revision: 1, spec: helper }] },
  );
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  expect(await run.verdicts()).toEqual(["no-mail: REDACT", "no-x: REFUSE", "tone: REFUSE"]);
  expect(run.read(1)).toContain("Ask [redacted: email].");
  expect((await resultsOf(run.bench)).at(-1)).toBe("Sorry.");
});

// Requirement: RES-13
describe("a guard of the output", () => {
  const output = [{ name: "tone", literals: ["damn"], action: "refuse", reason: "be polite" }];

  test("has the model answer once more, and voids what was shown", async () => {
    const run = await new GuardedRun([{ text: "damn" }, { text: "Sorry." }]).drive(
      guardrails({ output }),
    );
    const head = await endOf(run.bench);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(runOf(head).output).toBe("Sorry.");
    expect(run.read(1)).toContain('the guard \\"tone\\" refuses this answer: be polite');
    const events = await run.bench.events();
    expect(events.filter(({ event }) => event.case === "textVoided")).toHaveLength(1);
    expect(JSON.stringify(turnHistory(events), noBytes)).not.toContain("damn");
  });

  test("ends the run at the second refusal in a row", async () => {
    const run = await new GuardedRun([{ text: "damn" }]).drive(guardrails({ output }));
    expect(run.requests).toHaveLength(2);
    const head = await endOf(run.bench);
    expect(head.error).toMatchObject({
      reason: "guardrail_tripped",
      message: expect.stringContaining("2 answers in a row were refused"),
    });
    expect(runOf(head).output).toBe("");
  });

  test("refuses the calls of a refused turn", async () => {
    const turns = [{ text: "damn", calls: [["count", "{}"]] as const }, { text: "Sorry." }];
    const run = await new GuardedRun(turns).drive(guardrails({ output }));
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.bench.executed).toEqual([]);
    expect(await resultsOf(run.bench)).toEqual([expect.stringContaining("be polite")]);
  });

  test("with hold shows nothing that it refuses", async () => {
    const run = await new GuardedRun([{ text: "damn" }, { text: "Sorry." }]).drive(
      guardrails({ hold: true, output }),
    );
    const texts = (await run.bench.events()).flatMap(({ event }) =>
      event.case === "text" ? [event.value.text] : [],
    );
    expect(texts).toEqual(["Sorry."]);
    expect(await run.verdicts()).toEqual(["tone: REFUSE"]);
  });

  test("with hold replaces parts of what people and later steps read", async () => {
    const redact = [{ name: "no-mail", detect: ["email"], action: "redact" }];
    const turns = [{ text: `Ask ${mail}.`, calls: [["count", "{}"]] as const }, ...hello];
    const run = await new GuardedRun(turns).drive(guardrails({ hold: true, output: redact }));
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    const log = JSON.stringify(await run.bench.events(), noBytes);
    expect(log).toContain("Ask [redacted: email].");
    expect(log).not.toContain(mail);
    expect(run.read(1)).toContain("Ask [redacted: email].");
    expect(run.read(1)).not.toContain(mail);
  });

  test("checks an answer by a schema", async () => {
    const schema = { type: "object", required: ["n"] };
    const typed = [{ name: "typed", schema, action: "refuse" }];
    const run = await new GuardedRun([{ text: "one" }, { text: '{"n":1}' }]).drive(
      guardrails({ output: typed }),
    );
    expect(runOf(await endOf(run.bench)).output).toBe('{"n":1}');
    expect(run.read(1)).toContain("it is not JSON");
  });

  test("refuses a result with a schema, so that the model gives another one", async () => {
    const outputSchema = { type: "object", properties: { who: { type: "string" } } };
    const answer = (who: string) => ({
      calls: [["finish_subtask", JSON.stringify({ who })]] as const,
    });
    const run = await new GuardedRun([answer("damn"), answer("ann")]).drive({
      outputSchema,
      ...guardrails({ output }),
    });
    const head = await endOf(run.bench);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(runOf(head).structuredOutput).toEqual({ who: "ann" });
  });
});

// Requirement: RES-13
describe("a guard of tools", () => {
  const calling = (args: object) => [
    { calls: [["count", JSON.stringify(args)]] as const },
    { text: "Done." },
  ];

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
    expect(JSON.stringify(started, noBytes)).toContain("[redacted: email]");
    expect(run.bench.executed).toHaveLength(1);
    const other = await new GuardedRun(calling({ [mail]: 1 })).drive(guardrails({ tools }));
    expect(other.bench.executed).toEqual([]);
    expect(await other.verdicts()).toEqual(["m: REFUSE"]);
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
      expect(JSON.stringify(turnHistory(await run.bench.events()), noBytes)).toContain(expected);
    }
  });
});

// Requirement: RES-13
describe("a guard with a model", () => {
  const input = (more: object = {}) => [
    { name: "judge", model: { policy: "Only greetings.", ...more }, action: "stop" },
  ];

  test("passes or stops by its verdict, whose usage counts", async () => {
    const verdict = (text: string) =>
      text === "hi" ? '{"verdict":"pass"}' : '{"verdict":"flag","reason":"no greeting"}';
    const passed = await new GuardedRun(hello, verdict).drive(guardrails({ input: input() }), {
      input: "hi",
    });
    expectWhole(await passed.bench.events(), RunStatus.COMPLETED);
    expect((await endOf(passed.bench)).cost).toMatchObject({ llmCalls: 2, inputTokens: 20 });
    const stopped = await new GuardedRun(hello, verdict).drive(guardrails({ input: input() }));
    expect((await endOf(stopped.bench)).error?.message).toContain("no greeting");
    expect(stopped.requests).toEqual([]);
  });

  test("trips if it gives no verdict, unless it says otherwise", async () => {
    const silent = () => "I cannot say.";
    const run = await new GuardedRun(hello, silent).drive(guardrails({ input: input() }));
    expect((await endOf(run.bench)).error?.message).toContain("could not be checked");
    const allowing = input({ on_failure: "allow" });
    const passed = await new GuardedRun(hello, silent).drive(guardrails({ input: allowing }));
    expectWhole(await passed.bench.events(), RunStatus.COMPLETED);
    const log = JSON.stringify(await passed.bench.events(), noBytes);
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

test("guards of the operator's policy hold beside those of the agent, and are named", async () => {
  const run = new GuardedRun(hello);
  const rules = [
    { name: "base", guardrails: { input: [{ name: "go", literals: ["go"], action: "stop" }] } },
  ];
  run.bench.policy = parsePolicyFile(JSON.stringify({ rules }), "policy.yaml");
  await run.drive({});
  expect((await endOf(run.bench)).error?.message).toContain(
    'the guard "go" of the operator\'s policy',
  );
});

// Requirement: RES-11, RES-13
test("no guard checks again what has a verdict in the log, wherever its worker dies", async () => {
  const judged = { name: "j", model: { policy: "p" } };
  const spec = guardrails({
    input: [{ ...judged, action: "stop" }],
    output: [{ ...judged, name: "k", action: "refuse" }],
    tools: [{ ...judged, name: "l", action: "refuse" }],
  });
  const turns = [{ text: "Counting.", calls: [["count", "{}"]] as const }, ...hello];
  const run = new GuardedRun(turns);
  await run.bench.create(spec);
  for (let worker = 1; worker < 40; worker++) {
    if ((await endOf(run.bench)).endSequence !== undefined) break;
    const now = new AbortController();
    const ports = run.bench.ports(`w${worker}`);
    let appends = 0;
    const log = withAppendObserver(ports.log, () => {
      if (++appends === 2) now.abort();
    });
    const stop = { now: now.signal, drain: new AbortController().signal };
    await run.bench.drive(`w${worker}`, 1, stop, worker, { ...ports, log });
  }
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  const ids = (await run.bench.events()).flatMap(({ event }) =>
    event.case === "pluginHookFinished" ? [event.value.hookId] : [],
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(5);
});

/** Bytes are the verbatim messages of the model. */
function noBytes(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}
