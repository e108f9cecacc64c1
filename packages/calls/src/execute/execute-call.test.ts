import { ToolStatus } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { emptyTail } from "@reeve/jetstream/log/port";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import { memoryCallJournal } from "@reeve/jetstream/log/memory";
import { Failure } from "@reeve/platform/failure";
import { HastyClock, ManualClock } from "@reeve/platform/test/support/manual-clock";
import { describe, expect, test } from "vitest";
import type { CallPorts } from "../ports/call-ports.ts";
import {
  answers,
  append,
  breakingJournal,
  cancelled,
  deliveryOf,
  factsIn,
  journalAway,
  key,
  kinds,
  never,
  patientTool,
  portsWith,
  request,
  resultIn,
  toolOf,
  unavailable,
} from "../../test/support/call-bench.ts";
import { settleCall } from "../queue/work-calls.ts";

describe("a call", () => {
  test("is started, executed, and ends with its result", async () => {
    const ports = portsWith(answers);
    const delivery = deliveryOf(request({ args: { n: 4 } }));
    await settleCall(delivery, ports, never);
    const facts = await factsIn(ports);
    expect(kinds(facts)).toEqual(["started", "result"]);
    expect(facts[0]?.fact.value).toMatchObject({ host: "toolhost-a", requestSequence: 7n });
    expect(resultIn(facts)).toMatchObject({ callId: key.call, content: "echo 4", isError: false });
    expect(resultIn(facts).metadata?.status).toBe(ToolStatus.SUCCESS);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("journals progress in order, before the result", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        for (let n = 1; n <= 20; n++) report({ progress: n, message: `step ${n}` });
        return { content: "done", isError: false };
      }),
    );
    await settleCall(deliveryOf(request()), ports, never);
    const facts = await factsIn(ports);
    const steps = facts.flatMap(({ fact }) =>
      fact.case === "progress" ? [fact.value.progress] : [],
    );
    expect(steps).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(kinds(facts).at(-1)).toBe("result");
  });

  test("appends progress together with the result that follows it at once", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        report({ progress: 1, message: "half" });
        report({ progress: 2, message: "whole" });
        return { content: "done", isError: false };
      }),
    );
    await settleCall(deliveryOf(request()), ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "progress", "progress", "result"]);
    const { batchTails } = await ports.journal.read(key, emptyTail, never);
    expect(batchTails.map(({ sequence }) => sequence)).toEqual([1, 4]);
  });

  test("appends progress of a call that continues", async () => {
    const goOn = Promise.withResolvers<void>();
    const ports = portsWith(
      toolOf(async ({ report }) => {
        report({ progress: 1, message: "half" });
        await goOn.promise;
        return { content: "done", isError: false };
      }),
    );
    const settled = settleCall(deliveryOf(request()), ports, never);
    await expect.poll(async () => kinds(await factsIn(ports))).toEqual(["started", "progress"]);
    goOn.resolve();
    await settled;
  });

  test("records a bounded part of a flood of progress, including the latest", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        for (let n = 1; n <= 50_000; n++) report({ progress: n, message: "" });
        return { content: "done", isError: false };
      }),
    );
    await settleCall(deliveryOf(request()), ports, never);
    const facts = await factsIn(ports);
    expect(facts.length).toBeLessThan(200);
    expect(facts.at(-2)?.fact.value).toMatchObject({ progress: 50_000 });
  });

  test("records a bounded part of each progress message", async () => {
    const ports = portsWith(
      toolOf(async ({ report }) => {
        for (let n = 1; n <= 64; n++) report({ progress: n, message: "é".repeat(1_000_000) });
        return { content: "done", isError: false };
      }),
    );
    await settleCall(deliveryOf(request()), ports, never);
    const messages = (await factsIn(ports)).flatMap(({ fact }) =>
      fact.case === "progress" ? [Buffer.byteLength(fact.value.message)] : [],
    );
    expect(Math.max(...messages)).toBeLessThanOrEqual(1_000);
  });

  test("is not executed when it was cancelled before", async () => {
    const ports = portsWith(toolOf(() => Promise.reject(new Error("executed"))));
    await append(ports, cancelled());
    const delivery = deliveryOf(request());
    await settleCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["cancelled"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("ends when it is cancelled while it runs, and records nothing more", async () => {
    const { tool, begun } = patientTool();
    const ports = portsWith(tool);
    const delivery = deliveryOf(request());
    const executing = settleCall(delivery, ports, never);
    await begun;
    await append(ports, cancelled());
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "cancelled"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("ends when it is cancelled, although following its journal broke off while it ran", async () => {
    const { tool, begun } = patientTool();
    const journal = breakingJournal(2);
    const ports = portsWith(tool, journal);
    const executing = settleCall(deliveryOf(request()), ports, never);
    await begun;
    await journal.broken;
    await append(ports, cancelled());
    await executing;
    expect(kinds(await factsIn(ports))).toEqual(["started", "cancelled"]);
  });

  test("that was cancelled just before its result has no result", async () => {
    const ports: CallPorts = portsWith(
      toolOf(async () => {
        await append(ports, cancelled());
        return { content: "too late", isError: false };
      }),
    );
    const delivery = deliveryOf(request());
    await settleCall(delivery, ports, never);
    expect(kinds(await factsIn(ports))).toEqual(["started", "cancelled"]);
    expect(delivery.settled).toEqual(["acknowledged"]);
  });
});

describe("a call that ends while the store is away", () => {
  /** Enough attempts for more than an hour. */
  const attempts = 5_000;

  // Requirement: DUR-3
  test("keeps its result until it is written", async () => {
    let left = attempts;
    const journal = journalAway((facts) => facts.some(endsCall) && left-- > 0);
    const clock = new HastyClock();
    const ports = { ...portsWith(answers, journal), clock };
    const delivery = deliveryOf(request({ args: { n: 4 } }));
    await settleCall(delivery, ports, never);
    expect(clock.now()).toBeGreaterThan(3_600_000);
    expect(kinds(await factsIn(ports))).toEqual(["started", "result"]);
    expect(resultIn(await factsIn(ports))).toMatchObject({ content: "echo 4", isError: false });
    expect(delivery.settled).toEqual(["acknowledged"]);
  });

  test("waits for the store to open its workspace", async () => {
    let left = attempts;
    const journal = journalAway(() => false);
    const ports: CallPorts = {
      ...portsWith(
        toolOf(async ({ sandbox }) => {
          const content = await sandbox().then(String, (error: Error) => error.message);
          return { content, isError: false };
        }),
        {
          ...journal,
          read: async (...given) => {
            if (left > 0 && left-- > 0) throw unavailable();
            return await journal.read(...given);
          },
        },
      ),
      workspaces: {
        open: () => Promise.reject(left > 0 ? unavailable() : new Error("no workspace here")),
      },
      clock: new HastyClock(),
    };
    await settleCall(deliveryOf(request()), ports, never);
    expect(resultIn(await factsIn(ports)).content).toBe("no workspace here");
  });

  test("keeps the part of its result that is too long for the model, too", async () => {
    let left = attempts;
    const journal = journalAway(() => false);
    const isAway = () => left > 0;
    const ports = portsWith(
      toolOf(async () => ({ content: "x".repeat(100_000), isError: false })),
      {
        ...journal,
        read: async (...given) => {
          if (isAway() && left-- > 0) throw unavailable();
          return await journal.read(...given);
        },
      },
    );
    const put: CallPorts["artifacts"]["put"] = async (...given) => {
      if (isAway()) throw unavailable();
      return await ports.artifacts.put(...given);
    };
    const away = { ...ports, artifacts: { put }, clock: new HastyClock() };
    await settleCall(deliveryOf(request()), away, never);
    expect(resultIn(await factsIn(ports)).content).toMatch(/call retrieve_artifact/);
  });

  test("loses its result when the toolhost ends first", async () => {
    const journal = journalAway((facts) => facts.some(endsCall));
    const stop = new AbortController();
    const ports = portsWith(answers, journal);
    const delivery = deliveryOf(request());
    const asleep = Promise.withResolvers<void>();
    const clock = new ManualClock();
    const sleep = (...given: Parameters<ManualClock["sleep"]>) => {
      asleep.resolve();
      return clock.sleep(...given);
    };
    const waiting = { now: () => clock.now(), sleep };
    const settling = settleCall(delivery, { ...ports, clock: waiting }, stop.signal);
    await asleep.promise;
    stop.abort(new DOMException("going", "AbortError"));
    await settling;
    expect(delivery.settled).toEqual(["returned"]);
  });

  test("has an error for a result that no store accepts", async () => {
    const journal = memoryCallJournal();
    const ports = portsWith(answers, {
      append: async (...given) => {
        const [fact] = given[2];
        if (fact?.fact.case === "result" && fact.fact.value.content.startsWith("echo")) {
          throw new Failure("exhausted", ErrorReason.TOO_LARGE, "too large");
        }
        return await journal.append(...given);
      },
      read: (...given) => journal.read(...given),
      follow: (...given) => journal.follow(...given),
    });
    await settleCall(deliveryOf(request()), ports, never);
    const result = resultIn(await factsIn(ports));
    expect(result).toMatchObject({ isError: true });
    expect(result.content).toContain("has ended");
  });
});

describe("an error that the model can correct", () => {
  test.each([
    ["an argument of the wrong type", request({ args: { n: "x" } }), /n must be integer/],
  ])("becomes a result: %s", async (_, message, problem) => {
    const ports = portsWith(answers);
    await settleCall(deliveryOf(message), ports, never);
    const result = resultIn(await factsIn(ports));
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(problem);
  });

  test("becomes a result: arguments that are not JSON", async () => {
    const ports = portsWith(answers);
    const message = request();
    message.call = { ...message.call, rawArguments: "{n:" } as NonNullable<typeof message.call>;
    delete message.call.arguments;
    await settleCall(deliveryOf(message), ports, never);
    expect(resultIn(await factsIn(ports)).content).toMatch(/not a JSON object: \{n:/);
  });

  test("becomes a result: what a tool refuses, but not the detail of an internal error", async () => {
    const reason = ErrorReason.INVALID_REQUEST;
    const refusing = toolOf(() => Promise.reject(new Failure("invalid", reason, "not like this")));
    const breaking = toolOf(() => Promise.reject(new Error("a secret detail")));
    for (const [tool, content] of [
      [refusing, "not like this"],
      [breaking, "the tool echo broke inside the toolhost"],
    ] as const) {
      const ports = portsWith(tool);
      await settleCall(deliveryOf(request()), ports, never);
      expect(resultIn(await factsIn(ports))).toMatchObject({ content, isError: true });
    }
  });

  test("is shown in part when it is too long", async () => {
    const ports = portsWith(toolOf(async () => ({ content: "é".repeat(100_000), isError: false })));
    await settleCall(deliveryOf(request()), ports, never);
    const { content } = resultIn(await factsIn(ports));
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(50_000);
    expect(content).toMatch(/^é+\n\[200000 bytes in all; call retrieve_artifact .*\]\né+$/);
  });
});
