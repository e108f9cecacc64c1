import type { JsonObject } from "@bufbuild/protobuf";
import { normalizeHost, parseNetworkEntry, permitsHost } from "@reeve/agent/spec/network-entry";
import type { CallContext, CallResult, Tool } from "@reeve/calls/ports/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { builtinDescriptor, stringOf } from "../builtin/builtin-descriptor.ts";
import type { BrowserSessions, SessionOwner } from "./browser-sessions.ts";
import type { PageOutcome } from "./guarded-page.ts";
import type { NamedElement } from "./named-element.ts";
import type { PageView } from "./page-view.ts";
import { headOfView, partOfView } from "./part-of-view.ts";

/** What a person who approves the use of an element reads of it, and what the page must still show then. */
const namedElement = {
  element: {
    type: "string",
    pattern: "^(f[0-9]{1,4})?e[0-9]{1,9}$",
    description: "Reference of the element in the last text of the page, such as e12.",
  },
  role: {
    type: "string",
    minLength: 1,
    maxLength: 100,
    description: "Role of the element in that text: the word before its name, such as button.",
  },
  name: {
    type: "string",
    maxLength: 1_000,
    description:
      "Name of the element in that text, without the quotes; of one without a name, the text after the colon. Empty: it has neither.",
  },
  page: {
    type: "string",
    minLength: 1,
    maxLength: 2_048,
    description: "Address of the page, from the line above that text.",
  },
};
const namedRequired = ["element", "role", "name", "page"];

function namedElementOf({ args }: CallContext): NamedElement {
  const [element = "", role = "", name = "", page = ""] = namedRequired.map((each) =>
    stringOf(args[each]),
  );
  return { element, role, name, page };
}

/** Returns the tools that use the browser of a run. */
export function browserTools(sessions: BrowserSessions): readonly Tool[] {
  return [
    browserTool({
      name: "browser_open",
      description:
        "Opens a web page on a host that this agent may reach in the browser of the run. Returns its text as an outline, in which " +
        "elements have references such as [ref=e12] for browser_click and browser_type.",
      properties: { url: { type: "string", minLength: 1, maxLength: 8_192 } },
      required: ["url"],
      call: async (context, owner, signal) => {
        const { args } = context;
        const url = stringOf(args["url"]);
        const refusal = refusalOf(url, owner.network.allow);
        if (refusal !== undefined) return failed(refusal);
        const opened = await sessions.open(owner, (page, until) => page.open(url, until), signal);
        return viewed(opened, context);
      },
    }),
    browserTool({
      name: "browser_read",
      description: "Returns the text of the open page, as browser_open does, from an offset.",
      properties: {
        offset: { type: "integer", minimum: 0, description: "Where to continue. Default: 0." },
      },
      required: [],
      call: async (context, owner, signal) =>
        viewed(await sessions.continue(owner, (page, until) => page.read(until), signal), context),
    }),
    browserTool({
      name: "browser_click",
      description:
        "Clicks an element of the open page, if the page still shows it with this role and name. Returns the text of the page then.",
      properties: namedElement,
      required: namedRequired,
      call: async (context, owner, signal) => {
        const named = namedElementOf(context);
        const click = (page: Page, until: AbortSignal) => page.click(named, until);
        return viewed(await sessions.continue(owner, click, signal), context);
      },
    }),
    browserTool({
      name: "browser_type",
      description:
        "Replaces the text of an input of the open page, if the page still shows it with this role and name, and submits it if requested. " +
        "Returns the text of the page then.",
      properties: {
        ...namedElement,
        text: { type: "string", maxLength: 10_000 },
        submit: { type: "boolean", description: "Whether to press Enter. Default: false." },
      },
      required: [...namedRequired, "text"],
      call: async (context, owner, signal) => {
        const { args } = context;
        const submit = args["submit"] === true;
        const typed = { ...namedElementOf(context), text: stringOf(args["text"]), submit };
        const type = (page: Page, until: AbortSignal) => page.type(typed, until);
        return viewed(await sessions.continue(owner, type, signal), context);
      },
    }),
    browserTool({
      name: "browser_screenshot",
      description: "Returns an image of the visible part of the open page.",
      properties: {},
      required: [],
      call: async (_, owner, signal) => {
        const outcome = await sessions.continue(
          owner,
          (page, until) => page.screenshot(until),
          signal,
        );
        if (outcome.kind === "failed") return failed(outcome.reason);
        const { png } = outcome.value;
        const attachments = [{ label: "screenshot", mediaType: "image/png", bytes: png }];
        return { content: headOfView(outcome.value).join("\n"), isError: false, attachments };
      },
    }),
  ];
}

type Page = Parameters<Parameters<BrowserSessions["continue"]>[1]>[0];

interface BrowserToolOptions {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: string[];
  call(context: CallContext, owner: SessionOwner, signal: AbortSignal): Promise<CallResult>;
}

function browserTool({ call, ...options }: BrowserToolOptions): Tool {
  return {
    descriptor: builtinDescriptor({
      ...options,
      category: ToolCategory.GENERAL,
      permissionClass: PermissionClass.NETWORK,
      // The calls of a run use one page.
      exclusiveLock: "browser",
    }),
    call: (context, signal) => call(context, ownerOf(context), signal),
  };
}

/** The browser uses no credential: what is in a page could show or misuse it. */
function ownerOf({
  tenant,
  runId,
  callId,
  settings: { network: allow, delegateId },
}: CallContext): SessionOwner {
  if (allow.length > 0) return { tenant, delegateId, network: { allow, runId, callId } };
  const message = "the agent has no network; name hosts in deep_agent.network.allow of the agent";
  throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}

/** Returns why a URL cannot be opened; undefined if it can. Whatever a page leads to then is for the proxy to decide. */
function refusalOf(text: string, allow: readonly string[]): string | undefined {
  const url = URL.parse(text);
  if (url === null) return `url: "${text}" is not a valid URL`;
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return "url: only http and https are supported";
  const host = normalizeHost(url.hostname);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const entries = allow.flatMap((each) => parseNetworkEntry(each, "agent") ?? []);
  if (host !== undefined && permitsHost(entries, host, port)) return undefined;
  return `url: ${url.hostname}:${port} is not among the hosts that this agent may reach: ${allow.join(", ")}`;
}

function viewed(
  outcome: PageOutcome<PageView & { readonly status?: number }>,
  { args, settings }: CallContext,
): CallResult {
  if (outcome.kind === "failed") return failed(outcome.reason);
  const offset = typeof args["offset"] === "number" ? args["offset"] : 0;
  return partOfView(outcome.value, offset, settings.resultBytes);
}

function failed(content: string): CallResult {
  return { content, isError: true };
}
