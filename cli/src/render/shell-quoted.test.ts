import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellQuoted } from "./shell-quoted.ts";

const odd = "a\u00a0\\ 'b'  \"c\"\n\t\u202e\u{e0041}\u200b";

test("a quoted text is one word of a shell", () => {
  for (const text of [odd, "it's", "", "$(id) `id`"]) {
    const quoted = shellQuoted(text);
    expect(quoted).toMatch(/^[\x20-\x7e]*$/);
    const env = { LC_ALL: "C.UTF-8" };
    const said = execFileSync("bash", ["--norc", "-c", `printf %s ${quoted}`], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(said).toBe(text);
  }
});
