import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
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

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import("./screens/runs/runs-screen.tsx"), "RunsScreen"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId/{-$view}",
  component: lazyRouteComponent(() => import("./screens/run/run-screen.tsx"), "RunScreen"),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox/{-$approvalId}",
  validateSearch: readInboxSearch,
  component: lazyRouteComponent(() => import("./screens/inbox/inbox-screen.tsx"), "InboxScreen"),
});

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat/{-$threadId}",
  validateSearch: (search: Record<string, unknown>): { readonly agent?: string } =>
    typeof search["agent"] === "string" ? { agent: search["agent"] } : {},
  component: lazyRouteComponent(() => import("./screens/chat/chat-screen.tsx"), "ChatScreen"),
});

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents/{-$agentId}",
  component: lazyRouteComponent(() => import("./screens/agents/agents-screen.tsx"), "AgentsScreen"),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  component: lazyRouteComponent(() => import("./screens/models/models-screen.tsx"), "ModelsScreen"),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  component: lazyRouteComponent(() => import("./screens/audit/audit-screen.tsx"), "AuditScreen"),
});

const passkeys = createRoute({
  getParentRoute: () => root,
  path: "/passkeys",
  component: lazyRouteComponent(
    () => import("./screens/passkeys/passkeys-screen.tsx"),
    "PasskeysScreen",
  ),
});

const routeTree = root.addChildren([home, runs, run, inbox, chat, agents, models, audit, passkeys]);

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultErrorComponent: Crash,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
