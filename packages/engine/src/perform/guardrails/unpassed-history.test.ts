import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { appendExternal } from "@reeve/run/commands/append-external";
import { turnHistory } from "@reeve/run/thread/history/turn-history";
import { expect, test } from "vitest";
import { asText, GuardedRun, guardrails } from "../../../test/support/guarded-run.ts";
import { endOf } from "../../../test/support/plugins/plugin-bench.ts";
import { key } from "../../../test/support/worker-bench.ts";
import { retryOf } from "../../domain/retry/retry-of.ts";
import { applyAll } from "../../domain/state/apply.ts";
import { initialState } from "../../domain/state/run-state.ts";

const hello = [{ text: "Hello." }];
const secret = "tea at five";

const guard = (action: string, more: object = {}) => [
  { name: "g", literals: [secret], action, ...more },
];

/** What later turns read of a log, as one text. */
function read(events: readonly RunEvent[]): string {
  return JSON.stringify(turnHistory(events), asText);
}

/** The log up to the first hook of its guards. */
function beforeVerdict(events: readonly RunEvent[]): readonly RunEvent[] {
  return events.slice(
    0,
    events.findIndex(({ event }) => event.case === "pluginHookFinished"),
  );
}

// Requirement: RES-13
test("later turns do not read an input that a guard stopped, or has not checked", async () => {
  const input = guard("stop");
  const run = await new GuardedRun(hello).drive(guardrails({ input }), { input: secret });
  expect((await endOf(run.bench)).status).toBe(RunStatus.ERROR);
  const events = await run.bench.events();
  for (const each of [events, beforeVerdict(events)]) {
    expect(read(each)).not.toContain(secret);
    expect(read(each)).toContain("[withheld");
  }
});

function cancel(): readonly ExternalFact[] {
  return [
    { case: "cancelRequested", value: {} },
    { case: "status", value: { status: RunStatus.CANCELLED } },
  ];
}

// Requirement: RES-13
test("later turns do not read the input of a run that ended before its guards were known", async () => {
  const policy = { hasPolicy: true };
  const cases = [
    [guardrails({ input: guard("stop") }), {}, false],
    [{}, policy, false],
    [{}, {}, true],
  ] as const;
  for (const [spec, more, isRead] of cases) {
    const run = new GuardedRun(hello);
    await run.bench.create(spec, { input: secret, ...more });
    const { log, dispatch } = run.bench;
    await appendExternal({ log, dispatch }, key, cancel, new AbortController().signal);
    expect(read(await run.bench.events()).includes(secret)).toBe(isRead);
  }
});

test("later turns read the input of a run without guards, also if there is a policy", async () => {
  const run = new GuardedRun(hello);
  run.bench.policy = { rules: [] };
  await run.drive({}, { input: secret, hasPolicy: true });
  expect(read(await run.bench.events())).toContain(secret);
});

// Requirement: RES-13
test("later turns do not read an answer that no guard has passed", async () => {
  const output = [{ name: "g", literals: ["bye"], action: "stop" }];
  const run = await new GuardedRun(hello).drive(guardrails({ output }));
  const events = await run.bench.events();
  expect(read(events)).toContain("Hello.");
  const early = beforeVerdict(events);
  expect(early.some(({ event }) => event.case === "modelTurn")).toBe(true);
  expect(read(early)).not.toContain("Hello.");
  const streaming = early.filter(({ event }) => event.case !== "modelTurn");
  expect(read(streaming)).not.toContain("Hello.");
});

// Requirement: RES-13
test("later turns do not read a result that no guard has passed", async () => {
  const tools = [{ name: "g", literals: ["9"], on: "result", action: "refuse" }];
  const calling = [{ calls: [["count", "{}"]] as const }, { text: "Done." }];
  const run = await new GuardedRun(calling).drive(guardrails({ tools }));
  const events = await run.bench.events();
  expect(read(events)).toContain('"content":"1"');
  const failed = beforeVerdict(events);
  expect(failed.some(({ event }) => event.case === "toolResult")).toBe(true);
  expect(read(failed)).not.toContain('"content":"1"');
  expect(read(failed)).toContain("withheld");
});

// Requirement: RES-13
test("a run that continues another one has its guards look at what people said before", async () => {
  const input = guard("redact");
  const first = new GuardedRun(hello);
  await first.drive(guardrails({ input }));
  const events = await first.bench.events();
  const state = applyAll(initialState, events);
  const { created } = state.head;
  if (created === undefined) throw new Error("the run was not created");
  const message = { role: Role.USER, text: secret };
  const injected = create(RunEventSchema, {
    runId: state.head.runId,
    sequence: events.length + 1,
    event: { case: "messageInjected", value: { messageId: "m", message } },
  });
  const { inherited } = retryOf(state, created, [...events, injected]);
  expect(JSON.stringify(inherited, asText)).toContain(secret);
  const second = new GuardedRun(hello);
  await second.drive(guardrails({ input }), { ...(inherited && { inherited }) });
  expect(second.read(0)).toContain("[redacted: text]");
  expect(second.read(0)).not.toContain(secret);
});
