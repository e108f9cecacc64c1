import type { Attack, Category, Control } from "../support/attack.ts";
import { bounded, harmed, stopped } from "../support/attack.ts";

const mebibyte = 2 ** 20;
const within: Control = { where: "within", why: "its output is forwarded up to the limit" };

/** Creates an attack that writes endlessly, of which no more than the limit may be forwarded. */
function flood(id: string, attempt: string, code: string): Attack {
  return {
    id,
    attempt,
    promise: "the forwarded output is limited, and the call is ended",
    control: within,
    run: async (bench) => {
      const { end, text } = await bench.python(code, { limits: { outputBytes: mebibyte } });
      const passed = [text("stdout"), text("stderr"), text("result")].join("").length;
      if (passed < 1_000) throw new Error(`the attack ${id} wrote nothing: ${end.reason}`);
      return end.reason === "output_limit" && passed <= mebibyte
        ? bounded
        : harmed(`${end.reason} after ${passed} bytes`);
    },
  };
}

export const output: Category = {
  title: "Output",
  attacks: [
    flood("endless-output", "writes to stdout endlessly", `while True: print("x" * 1_000)`),
    flood(
      "output-without-newline",
      "writes one line endlessly",
      `import os\nwhile True: os.write(1, b"x" * 65_536)`,
    ),
    flood(
      "binary-output",
      "writes zeros and partial characters to stderr endlessly",
      `import os\nwhile True: os.write(2, b"\\0\\xff\\xc3" * 1_000)`,
    ),
    flood(
      "many-writers",
      "writes single bytes from many processes, to all streams",
      `
import os
for _ in range(20):
    if os.fork() == 0: break
while True: os.write(1, b"a"); os.write(2, b"b"); os.write(3, b"c")`,
    ),
    flood(
      "endless-result",
      "writes to the result descriptor endlessly",
      `
import os
while True: os.write(3, b"x" * 65_536)`,
    ),
    {
      id: "closed-output",
      attempt: "closes all streams, its own and those of its descendants, and continues",
      promise: "its real end is reported when it happens",
      control: { where: "within", why: "the exit code is reported" },
      run: async (bench) => {
        const code = `
import os, time
os.closerange(0, 64)
if os.fork() == 0: time.sleep(30)
time.sleep(0.5)
os._exit(9)`;
        const { end } = await bench.python(code);
        return end.reason === "exit" && end.code === 9 && end.durationMs < 20_000
          ? stopped
          : harmed(JSON.stringify(end));
      },
    },
  ],
};
