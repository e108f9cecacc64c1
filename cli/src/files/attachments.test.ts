import { expect, test } from "vitest";
import { mediaTypeOf } from "./attachments.ts";

test("the type of an attachment follows from its name", () => {
  expect(mediaTypeOf("shots/Front.JPG")).toBe("image/jpeg");
  expect(mediaTypeOf("a.pdf")).toBe("application/pdf");
  expect(() => mediaTypeOf("data.csv")).toThrow("use --file for others");
});
