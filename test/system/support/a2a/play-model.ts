import type { Asked, Played } from "../../../support/playing-server.ts";

/** Plays a model that does what the last message of the user names, and then repeats the result. */
export function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  const result = last?.role === "tool" ? last.text : undefined;
  if (result !== undefined) return { text: `It says: ${result}` };
  const [verb, ...rest] = last?.text.split(" ") ?? [];
  switch (verb) {
    case "delegate":
      return { calls: [{ name: "agent_run_far", args: { prompt: rest.join(" ") } }] };
    case "write":
      return { calls: [{ name: "write_file", args: { path: "a.txt", content: "alpha" } }] };
    case "todo":
      return {
        text: "One moment.",
        calls: [{ name: "add_todo", args: { text: "buy milk" } }],
      };
    case "draw":
      return { calls: [{ name: "generate_image", args: { prompt: "a cat" } }] };
    case "ask":
      return { calls: [{ name: "ask_user", args: { question: "Which color?" } }] };
    case "hang":
      return { text: "Thinking", hangs: true };
    default:
      return { text: `You said: ${messages.map(({ text }) => text).join(" / ")}` };
  }
}
