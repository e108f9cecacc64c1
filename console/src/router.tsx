import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
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

const routeTree = root.addChildren([home, runs, run]);

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
