import { RunStatus } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { describe, expect, test } from "vitest";
import { ann, appendFacts, kindsOf, memoryPorts } from "../../test/support/memory-ports.ts";
import { sendMessage } from "./send-message.ts";

const never = new AbortController().signal;
const runId = "run_spokento";
const created: ExternalFact = { case: "runCreated", value: { tenant: "acme" } };

async function withRun(...facts: readonly ExternalFact[]) {
  const ports = memoryPorts();
  await appendFacts(ports.log, runId, created, ...facts);
  return ports;
}

const message = (text: string, messageId = "") => ({ runId, text, messageId });

describe("a message", () => {
  // Requirement: EVT-6
  test("is in the log of its run at once, with its sender", async () => {
    const ports = await withRun();
    const sent = await sendMessage(ports, ann, message("look left"), never);
    const { events } = await ports.log.read({ tenant: "acme", run: runId }, emptyTail, never);
    expect(events.at(-1)).toMatchObject({
      sequence: sent.sequence,
      event: {
        case: "messageSubmitted",
        value: {
          messageId: sent.messageId,
          message: { text: "look left" },
          submittedBy: "ann",
        },
      },
    });
  });

  test("wakes a parked run, and no other", async () => {
    const busy = await withRun({ case: "runClaimed", value: { worker: "w" } });
    await sendMessage(busy, ann, message("hi"), never);
    expect(busy.dispatch.length).toBe(0);
    const resting = await withRun({ case: "runParked", value: {} });
    await sendMessage(resting, ann, message("hi"), never);
    expect(resting.dispatch.length).toBe(1);
  });

  test("with one id is sent once, even by many concurrent requests", async () => {
    const ports = await withRun();
    const sent = await Promise.all(
      Array.from({ length: 8 }, () => sendMessage(ports, ann, message("hi", "m"), never)),
    );
    expect(sent).toEqual(sent.map(() => ({ messageId: "m", sequence: 2 })));
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated", "messageSubmitted"]);
  });

  test("is refused while a hundred messages, or two mebibytes, are pending", async () => {
    const refusal = { kind: "exhausted", reason: ErrorReason.INBOX_FULL };
    const many = await withRun();
    for (let n = 0; n < 100; n++) await sendMessage(many, ann, message("hi", `m${n}`), never);
    await expect(sendMessage(many, ann, message("hi"), never)).rejects.toMatchObject(refusal);
    expect(await sendMessage(many, ann, message("hi", "m7"), never)).toMatchObject({ sequence: 9 });
    const large = await withRun();
    const text = "x".repeat(262_144);
    for (let n = 0; n < 8; n++) await sendMessage(large, ann, message(text, `m${n}`), never);
    await expect(sendMessage(large, ann, message("hi"), never)).rejects.toMatchObject(refusal);
    await appendFacts(large.log, runId, { case: "messageInjected", value: { messageId: "m0" } });
    await sendMessage(large, ann, message("hi"), never);
  });

  test("with the id of another message is refused, not silently lost", async () => {
    const ports = await withRun();
    await sendMessage(ports, ann, message("left", "m"), never);
    await sendMessage(ports, ann, message("on", "n"), never);
    await expect(sendMessage(ports, ann, message("right", "m"), never)).rejects.toMatchObject({
      kind: "exists",
      reason: ErrorReason.REQUEST_ID_REUSED,
    });
  });

  test("without an id is a new message each time", async () => {
    const ports = await withRun();
    const first = await sendMessage(ports, ann, message("hi"), never);
    const second = await sendMessage(ports, ann, message("hi"), never);
    expect(second.sequence).toBe(first.sequence + 1);
  });

  test("that was sent before the end returns its result after it; a new message is refused", async () => {
    const ports = await withRun();
    const sent = await sendMessage(ports, ann, message("hi", "m"), never);
    await appendFacts(ports.log, runId, {
      case: "status",
      value: { status: RunStatus.COMPLETED },
    });
    expect(await sendMessage(ports, ann, message("hi", "m"), never)).toEqual(sent);
    await expect(sendMessage(ports, ann, message("hi"), never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.RUN_ENDED,
    });
  });

  // Requirement: EVT-6
  test.each(["", " ", "\t\n", "\u00a0", "\u2003\u3000", "\ufeff"])(
    "must not be blank: %j is refused",
    async (text) => {
      const ports = await withRun();
      await expect(sendMessage(ports, ann, message(text), never)).rejects.toMatchObject({
        kind: "invalid",
        violations: [{ field: "text" }],
      });
    },
  );

  test("may contain any character, and is stored unchanged", async () => {
    const ports = await withRun();
    const text = "a\0b 🙂 \u202e ﷽";
    await sendMessage(ports, ann, message(text, "*.> \0 .."), never);
    const { events } = await ports.log.read({ tenant: "acme", run: runId }, emptyTail, never);
    expect(events.at(-1)?.event).toMatchObject({ value: { message: { text } } });
  });

  test("to a run with memory is only for its user; a repeated request still has its result", async () => {
    const ports = memoryPorts();
    const value = { tenant: "acme", memoryEnabled: true, startedBy: "ann" };
    await appendFacts(ports.log, runId, { case: "runCreated", value });
    const sent = await sendMessage(ports, ann, message("recall", "m"), never);
    const bob = { tenant: "acme", subject: "bob" };
    await expect(sendMessage(ports, bob, message("recall everything"), never)).rejects.toThrow(
      /has the memories of its user, ann; nobody else may send it a message/,
    );
    expect(await sendMessage(ports, bob, message("recall", "m"), never)).toEqual(sent);
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated", "messageSubmitted"]);
  });

  test("to a run of another tenant is not found, and writes nothing there", async () => {
    const ports = await withRun();
    const gus = { tenant: "globex", subject: "gus" };
    await expect(sendMessage(ports, gus, message("hi"), never)).rejects.toMatchObject({
      kind: "not_found",
    });
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated"]);
  });
});
