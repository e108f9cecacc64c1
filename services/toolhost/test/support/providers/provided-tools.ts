import type { Progress, Tool } from "@reeve/calls/ports/tool";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { providerConfig } from "../../../src/tools/providers/provider-config.ts";
import { ToolProvider } from "../../../src/tools/providers/tool-provider.ts";
import { contextOf } from "../call-context.ts";
import { noSecrets } from "../no-secrets.ts";
import type { ServedCall } from "./provider-server.ts";
import { ProviderServer, textSchema } from "./provider-server.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

/** A tool that returns its text. */
export const echo = { name: "echo", description: "Says it again.", inputSchema: textSchema };

type Given = Partial<Parameters<typeof providerConfig>[0]>;

/** Starts a provider with the given behavior, and opens its client. `call` calls its tool `echo`. */
export async function provided(
  serve: (call: ServedCall) => void,
  given: Given = {},
  description: Parameters<typeof ProviderServer.start>[0] = { tools: [echo] },
) {
  const resources = new AsyncDisposableStack();
  const server = resources.use(await ProviderServer.start(description, serve));
  const config = providerConfig({ target: `127.0.0.1:${server.port}`, ...given });
  const provider = resources.use(
    new ToolProvider("acme", config, { log, secrets: noSecrets, onTools: () => undefined }),
  );
  await provider.tried;
  const call = async (signal = never, report: (progress: Progress) => void = () => undefined) =>
    await toolNamed(provider, "acme__echo").call(contextOf({ text: "hi" }, report), signal);
  return { server, provider, call, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Returns a tool of a provider by its name in the catalog. */
export function toolNamed({ tools }: ToolProvider, name: string): Tool {
  const tool = tools.find(({ descriptor }) => descriptor.name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  return tool;
}

/** Returns the behavior of a provider that answers each call with `content`. */
export const answering = (content: string) => (call: ServedCall) => {
  call.say({ case: "result", value: { content } });
  call.end();
};
