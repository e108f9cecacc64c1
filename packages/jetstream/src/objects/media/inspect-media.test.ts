import { expect, test } from "vitest";
import { png } from "../../../test/support/files/png.ts";
import { headBytes, inspectMedia } from "./inspect-media.ts";

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

test("the size of a JPEG is that of its first frame", () => {
  const comment = "\xff\xfe\x00\x05abc";
  const frame = "\xff\xc2\x00\x0b\x08\x01\x02\x03\x04\x01";
  const jpeg = bytes(`\xff\xd8${comment}\xff\xff\xff\xd0${frame}`);
  expect(inspectMedia(jpeg, "image/jpeg")).toEqual({ width: 0x304, height: 0x102 });
});

const webp = (chunk: string) => inspectMedia(bytes(`RIFF\0\0\0\0WEBP${chunk}`), "image/webp");

test("the size of a WebP is that of its first chunk", () => {
  const size = { width: 640, height: 480 };
  expect(webp("VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01")).toEqual(size);
  expect(webp("VP8L\0\0\0\0\x2f\x7f\xc2\x77\0\0\0\0\0\0")).toEqual(size);
  expect(webp("VP8X\0\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0")).toEqual(size);
});

test("every cut of an image has a size or is refused", () => {
  const whole = [
    ["image/png", png(640, 480)],
    ["image/webp", bytes("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0")],
    ["image/jpeg", bytes("\xff\xd8\xff\xc0\x00\x0b\x08\x01\x02\x03\x04")],
    ["image/gif", bytes("GIF89a\x02\x00\x03\x00\x00\x00\x00")],
  ] as const;
  for (const [mediaType, content] of whole) {
    expect(inspectMedia(content, mediaType)).toHaveProperty("width");
    for (let length = 0; length < content.length; length++) {
      const found = inspectMedia(content.subarray(0, length), mediaType);
      expect("width" in found || found.includes("MALFORMED")).toBe(true);
    }
  }
});

test("a PNG that ends after its header is refused", () => {
  expect(inspectMedia(png(640, 480).subarray(0, 33), "image/png")).toContain("MALFORMED");
});

test("a JPEG without a frame is refused in one pass", () => {
  for (const filler of [0, 1, 0xff]) {
    const head = new Uint8Array(headBytes).fill(filler);
    head.set([0xff, 0xd8, 0xff, 0xe0, 0, 0]);
    expect(inspectMedia(head, "image/jpeg")).toContain("MALFORMED");
    head.set([0xff, 0xd8, 0xff, 0xe0, 0, 2]);
    expect(inspectMedia(head, "image/jpeg")).toContain("MALFORMED");
  }
  const restarts = bytes("\xff\xd8" + "\xff\xd0".repeat(headBytes / 2));
  expect(inspectMedia(restarts, "image/jpeg")).toContain("MALFORMED");
});

test("a file of another container is not WebP or WAV", () => {
  const icns = Buffer.alloc(64);
  icns.write("icns\x7f\xff\xff\xffWEBP", "latin1");
  const jxl = Buffer.alloc(64);
  jxl.write("\0\0\0\0JXL WEBP", "latin1");
  const svg = Buffer.from('<script>WEBP=1</script><svg width="10" height="10"></svg>');
  for (const each of [icns, jxl, svg]) {
    expect(inspectMedia(each, "image/webp")).toContain("MALFORMED");
  }
  expect(inspectMedia(bytes("<script>WAVE=1</script>"), "audio/wav")).toContain("MALFORMED");
});

test("frames of layer III are MPEG audio", () => {
  for (const sync of ["\xfb", "\xfa", "\xf3", "\xf2", "\xe3", "\xe2"]) {
    expect(inspectMedia(bytes(`\xff${sync}\x90`), "audio/mpeg")).toEqual({ width: 0, height: 0 });
  }
});
