// Offers two tools to the thread of this page, and executes their calls. Uses the Connect protocol without a library.

// The id survives a reload of the page, so that it receives the calls again that it has not answered.
const clientId = (sessionStorage.clientId ??= `page-${crypto.randomUUID().slice(0, 8)}`);
const threadId = new URL(location).searchParams.get("thread") ?? "browser-tools";
const element = (id) => document.getElementById(id);
const log = (text) => (element("log").textContent += `${text}\n`);

const color = {
  type: "object",
  properties: { color: { type: "string", pattern: "^#[0-9a-f]{6}$" } },
  required: ["color"],
};

const tools = {
  show_color: {
    manifest: { description: "Shows a color, such as #ff0000, to the user.", inputSchema: color },
    execute: async ({ color }) => {
      element("color").style.background = color;
      return { text: `the user sees ${color}` };
    },
  },
  pick_color: {
    manifest: {
      description: "Asks the user for a color.",
      outputSchema: color,
      answeredByPerson: true,
      timeout: "3600s",
    },
    execute: async () => {
      element("choice").hidden = false;
      await new Promise((resolve) =>
        element("done").addEventListener("click", resolve, { once: true }),
      );
      element("choice").hidden = true;
      return { structured: { color: element("picked").value } };
    },
  },
};

/** The answers that the server has not acknowledged, by call id. */
const answers = new Map();

async function answer({ runId, callId, name, arguments: args = {} }) {
  log(`call of ${name}`);
  if (!answers.has(callId)) {
    answers.set(
      callId,
      tools[name].execute(args).catch((error) => ({ error: String(error) })),
    );
  }
  const given = await answers.get(callId);
  await send("tool.v1.ClientToolService/AnswerToolCall", { runId, callId, clientId, ...given });
  answers.delete(callId);
}

/** Sends a request until a server has answered it. */
async function send(method, message) {
  for (;;) {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(message);
    const response = await fetch(`/reeve.${method}`, { method: "POST", headers, body }).catch(
      () => undefined,
    );
    if (response?.ok) return await response.json();
    if (response !== undefined && response.status < 500) throw new Error(await response.text());
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Yields the messages of a stream. Each has a prefix of five bytes: flags and length. */
async function* stream(method, message) {
  const json = new TextEncoder().encode(JSON.stringify(message));
  const body = new Uint8Array(5 + json.length);
  new DataView(body.buffer).setUint32(1, json.length);
  body.set(json, 5);
  const headers = { "content-type": "application/connect+json" };
  const response = await fetch(`/reeve.${method}`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
  let buffer = new Uint8Array();
  for await (const chunk of chunksOf(response.body)) {
    const next = new Uint8Array(buffer.length + chunk.length);
    next.set(buffer);
    next.set(chunk, buffer.length);
    buffer = next;
    while (buffer.length >= 5) {
      const length = new DataView(buffer.buffer, buffer.byteOffset).getUint32(1);
      if (buffer.length < 5 + length) break;
      const parsed = JSON.parse(new TextDecoder().decode(buffer.subarray(5, 5 + length)));
      const isEnd = (buffer[0] & 2) !== 0;
      buffer = buffer.subarray(5 + length);
      if (!isEnd) yield parsed;
      else if (parsed.error) throw new Error(parsed.error.message);
    }
  }
}

/** Not every browser iterates over the body of a response. */
async function* chunksOf(body) {
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

async function serve() {
  const manifest = {
    clientId,
    tools: Object.entries(tools).map(([name, { manifest }]) => ({ name, ...manifest })),
  };
  for (;;) {
    try {
      for await (const message of stream("tool.v1.ClientToolService/OfferTools", {
        threadId,
        manifest,
      })) {
        if (message.ready) log(`connected as ${clientId}`);
        if (message.call) answer(message.call).catch((error) => log(error.message));
      }
    } catch (error) {
      log(error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function ask(input) {
  const request = { agentId: "browser-tools", input, threadId, requestId: crypto.randomUUID() };
  const { run, warnings = [] } = await send("run.v1.RunService/StartRun", request);
  warnings.forEach(log);
  for await (const { events = [] } of stream("run.v1.RunService/WatchRun", { runId: run.runId })) {
    for (const { text } of events) if (text) element("log").textContent += text.text;
  }
  log("");
}

element("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask(new FormData(event.target).get("input")).catch((error) => log(error.message));
});
serve();
