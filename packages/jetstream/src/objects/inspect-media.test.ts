import { expect, test } from "vitest";
import { png } from "../../test/support/files/png.ts";
import { inspectMedia } from "./inspect-media.ts";

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));

test("the size of an image is that of its header", () => {
  expect(inspectMedia(png(640, 480), "image/png")).toEqual({ width: 640, height: 480 });
  const gif = bytes("GIF89a\x02\x00\x03\x00\x00\x00\x00");
  expect(inspectMedia(gif, "image/gif")).toEqual({ width: 2, height: 3 });
});

test("an image that is too large for models is refused by its header", () => {
  expect(inspectMedia(png(100_000, 100_000), "image/png")).toEqual([
    "TOO_LARGE",
    expect.stringContaining("100000 × 100000"),
  ]);
});

test("content of another type than it says is refused", () => {
  expect(inspectMedia(png(), "image/jpeg")).toEqual([
    "MALFORMED",
    expect.stringContaining("its content is image/png"),
  ]);
  expect(inspectMedia(bytes("hello"), "application/pdf")).toContain("MALFORMED");
});

test("an image without a size is refused", () => {
  expect(inspectMedia(png().subarray(0, 12), "image/png")).toContain("MALFORMED");
  expect(inspectMedia(png(0, 5), "image/png")).toContain("MALFORMED");
});

test("documents and audio have no size", () => {
  const none = { width: 0, height: 0 };
  expect(inspectMedia(bytes("%PDF-1.7"), "application/pdf")).toEqual(none);
  expect(inspectMedia(bytes("RIFF....WAVEfmt "), "audio/wav")).toEqual(none);
  expect(inspectMedia(bytes("ID3\x04"), "audio/mpeg")).toEqual(none);
});
