// Offers two tools to the thread of this page, and executes their calls. Uses the Connect protocol without a library.

// The id survives a reload of the page, so that it receives the calls again that it has not answered. A tab that was duplicated has
// a copy of the storage, and needs an id of its own: the lock shows that the other tab is open.
const newId = () => `page-${crypto.randomUUID().slice(0, 8)}`;
const clientId = await claimId((sessionStorage.clientId ??= newId()));

async function claimId(id) {
  const isFree = await new Promise((resolve) => {
    // A page that is reloaded holds its lock for another moment.
    const limit = { signal: AbortSignal.timeout(1000) };
    const held = () => (resolve(true), new Promise(() => {}));
    navigator.locks.request(id, limit, held).catch(() => resolve(false));
  });
  return isFree ? id : claimId((sessionStorage.clientId = newId()));
}

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
    execute: async (_, signal) => {
      element("choice").hidden = false;
      await new Promise((resolve) => {
        element("done").addEventListener("click", resolve, { once: true, signal });
        signal.addEventListener("abort", resolve);
      });
      element("choice").hidden = true;
      return { structured: { color: element("picked").value } };
    },
  },
};

/** The calls that the server has not closed, by call id: one that is sent again is not executed again. */
const calls = new Map();

async function answer({ runId, callId, name, arguments: args = {} }) {
  if (calls.has(callId)) return;
  log(`call of ${name}`);
  const end = new AbortController();
  calls.set(callId, end);
  const given = await tools[name]
    .execute(args, end.signal)
    .catch((error) => ({ error: String(error) }));
  if (end.signal.aborted) return;
  await send("tool.v1.ClientToolService/AnswerToolCall", { runId, callId, clientId, ...given });
}

function close({ callId }) {
  calls.get(callId)?.abort();
  calls.delete(callId);
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
        if (message.closed) close(message.closed);
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
