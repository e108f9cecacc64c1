import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { onlyKnown } from "./loading/only-known.ts";
import { retried } from "./loading/retried.ts";
import { beginWatch } from "./run/feed/begin-watch.ts";
import { readAgentsSearch } from "./screens/agents/agents-search.ts";
import { readAuditSearch } from "./screens/audit/audit-search.ts";
import { readInboxSearch } from "./screens/inbox/inbox-search.ts";
import { readRunsSearch } from "./screens/runs/runs-search.ts";
import { NotFound } from "./ui/not-found.tsx";
import { Crash } from "./ui/crash.tsx";
import { Shell } from "./ui/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

/** Where the provider of the sign-ins leads back to, if nothing is left to finish. */
const signedIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: onlyKnown(readRunsSearch),
  component: lazyRouteComponent(
    retried(() => import("./screens/runs/runs-screen.tsx")),
    "RunsScreen",
  ),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId/{-$view}",
  validateSearch: onlyKnown(({ at }: Record<string, unknown>): { readonly at?: number } =>
    Number.isSafeInteger(at) ? { at: Number(at) } : {},
  ),
  component: lazyRouteComponent(
    retried(() => import("./screens/run/run-screen.tsx")),
    "RunScreen",
  ),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox/{-$approvalId}",
  validateSearch: onlyKnown(readInboxSearch),
  component: lazyRouteComponent(
    retried(() => import("./screens/inbox/inbox-screen.tsx")),
    "InboxScreen",
  ),
});

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat/{-$threadId}",
  validateSearch: onlyKnown(readChatSearch),
  component: lazyRouteComponent(
    retried(() => import("./screens/chat/chat-screen.tsx")),
    "ChatScreen",
  ),
});

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents/{-$agentId}",
  validateSearch: onlyKnown(readAgentsSearch),
  component: lazyRouteComponent(
    retried(() => import("./screens/agents/agents-screen.tsx")),
    "AgentsScreen",
  ),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows/{-$agentId}",
  validateSearch: onlyKnown(({ create }: Record<string, unknown>): { readonly create?: true } =>
    create === true ? { create } : {},
  ),
  component: lazyRouteComponent(
    retried(() => import("./screens/workflows/workflows-screen.tsx")),
    "WorkflowsScreen",
  ),
});

const triggers = createRoute({
  getParentRoute: () => root,
  path: "/triggers/{-$triggerId}",
  validateSearch: onlyKnown(({ create }: Record<string, unknown>): { readonly create?: true } =>
    create === true ? { create } : {},
  ),
  component: lazyRouteComponent(
    retried(() => import("./screens/triggers/triggers-screen.tsx")),
    "TriggersScreen",
  ),
});

const start = createRoute({
  getParentRoute: () => root,
  path: "/start",
  validateSearch: onlyKnown(readAgentSearch),
  component: lazyRouteComponent(
    retried(() => import("./screens/start/start-screen.tsx")),
    "StartScreen",
  ),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  component: lazyRouteComponent(
    retried(() => import("./screens/models/models-screen.tsx")),
    "ModelsScreen",
  ),
});

const operate = createRoute({
  getParentRoute: () => root,
  path: "/operate",
  component: lazyRouteComponent(
    retried(() => import("./screens/operate/operate-screen.tsx")),
    "OperateScreen",
  ),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: onlyKnown(readAuditSearch),
  component: lazyRouteComponent(
    retried(() => import("./screens/audit/audit-screen.tsx")),
    "AuditScreen",
  ),
});

const passkeys = createRoute({
  getParentRoute: () => root,
  path: "/passkeys",
  component: lazyRouteComponent(
    retried(() => import("./screens/passkeys/passkeys-screen.tsx")),
    "PasskeysScreen",
  ),
});

const routeTree = root.addChildren([
  home,
  signedIn,
  runs,
  run,
  start,
  inbox,
  chat,
  agents,
  workflows,
  triggers,
  models,
  operate,
  audit,
  passkeys,
]);

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultErrorComponent: Crash,
  scrollRestoration: true,
});

/**
 * Requests what the screen that the address names begins with, so that it is there when the router needs it: the chunk, and the events
 * of a run.
 */
export function loadScreen(): void {
  const named = router.matchRoutes(router.latestLocation);
  const ids = new Set<string>(named.map(({ routeId }) => routeId));
  const shown = named.find(({ routeId }) => routeId === run.id);
  if (shown !== undefined) beginWatch(shown.params.runId);
  for (const route of Object.values(router.routesById)) {
    // The router asks for it again, and shows what fails then.
    if (ids.has(route.id)) router.loadRouteChunk(route)?.catch(() => undefined);
  }
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** Reads the agent that an address chooses. */
function readAgentSearch({ agent }: Record<string, unknown>): { readonly agent?: string } {
  return typeof agent === "string" ? { agent } : {};
}

/** Reads what a chat begins with: an agent, and the workflow that it edits. Empty: a new workflow. */
function readChatSearch(search: Record<string, unknown>): {
  readonly agent?: string;
  readonly workflow?: string;
} {
  const { workflow } = search;
  return { ...readAgentSearch(search), ...(typeof workflow === "string" && { workflow }) };
}
