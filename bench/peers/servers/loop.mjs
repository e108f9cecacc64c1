/** The tool of all peers: it takes no arguments and returns a text immediately. */
export const toolName = "search";
export const toolDescription = "Searches.";
export const toolParameters = {
  type: "object",
  properties: {},
  required: [],
  additionalProperties: false,
};
export const toolResult = "found";

/** The maximum number of turns of a run. */
export const maxTurns = 50;

const tools = [
  {
    type: "function",
    function: { name: toolName, description: toolDescription, parameters: toolParameters },
  },
];

/** Calls a model once over fetch. Reports its text as it arrives, and returns it with the ids of its calls. */
export async function callModel(baseUrl, model, messages, onText) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages, tools, stream: true }),
  });
  if (!response.ok) throw new Error(`the model answered with ${response.status}`);
  const calls = [];
  let text = "";
  let buffered = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    buffered += decoder.decode(bytes, { stream: true });
    const lines = buffered.split("\n");
    buffered = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) {
        text += delta.content;
        onText(delta.content);
      }
      for (const { id } of delta?.tool_calls ?? []) if (id !== undefined) calls.push(id);
    }
  }
  return { text, calls };
}

/** Returns the message with the calls of a model. */
export function callMessage(calls) {
  const called = { name: toolName, arguments: "{}" };
  return {
    role: "assistant",
    content: null,
    tool_calls: calls.map((id) => ({ id, type: "function", function: called })),
  };
}

/** Returns the message with the result of a call. */
export function resultMessage(id, content) {
  return { role: "tool", tool_call_id: id, content };
}
