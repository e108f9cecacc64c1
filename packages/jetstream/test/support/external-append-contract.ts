import { describe, expect, test } from "vitest";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "../../src/log/port.ts";
import type { RunLog } from "../../src/log/run-log.ts";
import { appendEvents, freshRun, range, texts } from "./facts.ts";

/** The contract of external appends to a log whose owner appends without a pause. */
export function externalAppendContract(
  where: string,
  writers: () => readonly [RunLog, RunLog],
  facts = 20,
): void {
  describe(`external appends to a log ${where}`, () => {
    const signal = new AbortController().signal;

    test("lets external facts in while the owner writes at full speed", async () => {
      const [log, other] = writers();
      const key = freshRun();
      const stop = new AbortController();
      const start = await appendEvents(log, key, emptyTail, texts(emptyTail, "start"), signal);
      const owner = (async () => {
        let tail = start;
        while (!stop.signal.aborted) {
          // A log in memory would never yield to other work otherwise.
          await new Promise(setImmediate);
          const outcome = await log.append(key, tail, texts(tail, "busy"), signal);
          ({ tail } = outcome.kind === "appended" ? outcome : await log.read(key, tail, signal));
        }
      })();
      const dispatch = { publish: async () => 1 };
      for (const said of range(1, facts)) {
        const submitted = { case: "messageSubmitted", value: { messageId: `m${said}` } } as const;
        await appendExternal({ log: other, dispatch }, key, () => [submitted], signal);
      }
      stop.abort();
      await owner;
      const { events } = await log.read(key, emptyTail, signal);
      const submitted = events.flatMap(({ event }) =>
        event.case === "messageSubmitted" ? [event.value.messageId] : [],
      );
      expect(submitted).toEqual(range(1, facts).map((said) => `m${said}`));
      expect(events.map(({ sequence }) => sequence)).toEqual(range(1, events.length));
    });
  });
}
