import { expect, test } from "vitest";
import { bounded } from "./bounded-body.ts";

function answer(type: string, ...chunks: readonly string[]): Response {
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  return new Response(body, { headers: { "content-type": type } });
}

test("an answer up to the limit is given whole", async () => {
  expect(await bounded(answer("application/json", "12345", "67890"), 10).text()).toBe("1234567890");
});

test("an answer beyond it breaks off", async () => {
  const text = bounded(answer("application/json", "12345", "678901"), 10).text();
  await expect(text).rejects.toThrow("larger than 10 bytes");
});

test("a stream of events may go on for ever, as long as no event is too large", async () => {
  const events = Array.from({ length: 100 }, () => "data: a\r\n\r\n");
  const stream = answer("text/event-stream", ...events);
  expect(await bounded(stream, 20).text()).toBe(events.join(""));
  const pieces = answer("text/event-stream", "data: a", "\n", "\nda", "ta: b\n\n");
  expect(await bounded(pieces, 12).text()).toBe("data: a\n\ndata: b\n\n");
});

test("an event of many lines is still one", async () => {
  const stream = answer("text/event-stream", "data: 1\n", "data: 2\n", "data: 3\n\n");
  await expect(bounded(stream, 20).text()).rejects.toThrow("larger than 20 bytes");
});
