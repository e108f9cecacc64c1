import type { Asked, Played } from "../../support/playing-server.ts";

const call = (name: string, args: object): Played => ({ calls: [{ name, args }] });

/** Text that a page must not execute, load, or follow. */
const hostile = [
  "<script>window.pwned = 1</script>",
  '<img src="x" onerror="window.pwned = 1">',
  "[click](javascript:window.pwned=1)",
  '<a href="data:text/html,<script>1</script>">data</a>',
  "![tracker](https://evil.invalid/pixel.png)",
  '<iframe src="https://evil.invalid"></iframe><style>body{display:none}</style>',
  "The end of the hostile text.",
].join("\n\n");

/** The graph that a subtask plans. */
const plan = {
  nodes: [
    { id: "in", type: "input" },
    { id: "ask", type: "model", properties: { instructions: "Greet this person." } },
    { id: "out", type: "output" },
  ],
  edges: [
    { source: "in", target: "ask" },
    { source: "ask", source_handle: "result", target: "out" },
  ],
};

/** The answers of the models: the first word of the input says what happens. */
export function play({ messages }: Asked): Played {
  const input = messages.find(({ role }) => role === "user")?.text ?? "";
  const results = messages.filter(({ role }) => role === "tool").length;
  const [kind = ""] = input.split(/[\s.,]/, 1);
  switch (kind) {
    case "Pay":
      return results === 0
        ? call("add_todo", { text: "pay 100 to ann" })
        : { text: `Done: ${messages.at(-1)?.text}` };
    case "Order":
      return results === 0
        ? call("ask_user", { question: "Which dish?", choices: ["soup", "salad"] })
        : { text: `Ordered: ${messages.at(-1)?.text}` };
    case "Nest":
      return results === 0
        ? call("run_subtask", { title: "Outer subtask", instructions: "Outer." })
        : { text: "The nested work is **done**." };
    case "Outer":
      return results === 0
        ? call("run_subtask", { title: "Inner subtask", instructions: "Inner." })
        : { text: "Outer result" };
    case "Inner":
      return results === 0 ? call("add_todo", { text: "innermost" }) : { text: "Inner result" };
    case "Edit":
      return results === 0
        ? call("edit_file", { path: "notes.txt", old_text: "old", new_text: "new" })
        : { text: "Edited." };
    case "Hostile":
      return results === 0
        ? { ...call("<img src=x onerror=window.pwned=1>", { "<b>": hostile }), text: hostile }
        : { text: hostile };
    case "Build":
      return results === 0
        ? call("build_workflow", { objective: "greet a person" })
        : { text: "The plan is ready.", paceMs: 250 };
    case "Darken":
      return results === 0
        ? call("set_theme", { theme: "dark" })
        : { text: `The page says: ${messages.at(-1)?.text}` };
    case "Plan":
      return call("finish_subtask", plan);
    case "Slow":
      return { text: Array.from({ length: 60 }, (_, at) => `word${at + 1}`).join(" "), paceMs: 60 };
    default:
      return { text: `You said: ${input}` };
  }
}
