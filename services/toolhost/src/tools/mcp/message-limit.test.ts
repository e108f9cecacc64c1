import { expect, test } from "vitest";
import { withMessageLimit } from "./message-limit.ts";

function answer(type: string, ...chunks: readonly string[]): Response {
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  return new Response(body, { headers: { "content-type": type } });
}

test("an answer up to the limit is complete", async () => {
  expect(await withMessageLimit(answer("application/json", "12345", "67890"), 10).text()).toBe(
    "1234567890",
  );
});

test("an answer beyond the limit fails", async () => {
  const text = withMessageLimit(answer("application/json", "12345", "678901"), 10).text();
  await expect(text).rejects.toThrow("larger than 10 bytes");
});

test("a stream of events may be endless, as long as no event is too large", async () => {
  const events = Array.from({ length: 100 }, () => "data: a\r\n\r\n");
  const stream = answer("text/event-stream", ...events);
  expect(await withMessageLimit(stream, 20).text()).toBe(events.join(""));
  const pieces = answer("text/event-stream", "data: a", "\n", "\nda", "ta: b\n\n");
  expect(await withMessageLimit(pieces, 12).text()).toBe("data: a\n\ndata: b\n\n");
});

test("an event of many lines counts as one message", async () => {
  const stream = answer("text/event-stream", "data: 1\n", "data: 2\n", "data: 3\n\n");
  await expect(withMessageLimit(stream, 20).text()).rejects.toThrow("larger than 20 bytes");
});
