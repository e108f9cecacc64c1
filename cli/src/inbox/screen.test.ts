import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ScreenEvent } from "./screen.ts";
import { TerminalScreen } from "./screen.ts";

const style = (_: unknown, text: string) => text;

/** Opens a screen on a terminal that records what happens to it. */
function openScreen() {
  const log: string[] = [];
  const events: ScreenEvent[] = [];
  const input = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => log.push(`raw ${isRaw}`),
  });
  const output = Object.assign(new PassThrough(), {
    columns: 80,
    rows: 24,
    write: (text: string) => log.push(text),
  });
  const streams = {
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
  };
  const screen = new TerminalScreen({ ...streams, style }, (event) => events.push(event));
  const type = async (text: string) => {
    input.write(text);
    await setImmediate();
  };
  return { screen, log, events, type };
}

test("a paste is reported as one text without line breaks, never as keys", async () => {
  const { screen, log, events, type } = openScreen();
  expect(log.join("")).toContain("\u001b[?2004h");
  await type("r\u001b[200~Not now.\rjust ");
  await type("ask\tagain\r\n\u0003\u001b[A日\u001b[20");
  await type("1~q");
  screen[Symbol.dispose]();
  expect(log.at(-1)).toContain("\u001b[?2004l");
  expect(events).toEqual([
    { kind: "key", key: { name: "r", text: "r", isControl: false } },
    { kind: "pasted", text: "Not now. just ask again 日" },
    { kind: "key", key: { name: "q", text: "q", isControl: false } },
  ]);
});

test("a screen that is disposed while the terminal is lent never takes it again", async () => {
  const { screen, log, events, type } = openScreen();
  const editor = Promise.withResolvers<string>();
  const lent = screen.lend(() => editor.promise);
  screen[Symbol.dispose]();
  const before = [...log];
  editor.resolve("edited");
  expect(await lent).toBe("edited");
  expect(await screen.lend(async () => await Promise.resolve("again"))).toBe("again");
  expect(log).toEqual(before);
  expect(log.at(-1)).toContain("\u001b[?1049l");
  await type("q");
  expect(events).toEqual([]);
});
