import type { Break } from "./break.ts";
import { imageBreaks } from "./images-and-resources.ts";
import { jobBreaks } from "./jobs.ts";
import { lifeBreaks } from "./life.ts";
import { networkBreaks } from "./network.ts";
import { podSecurityBreaks } from "./pod-security.ts";
import { routeBreaks } from "./routes.ts";
import { scalingBreaks } from "./scaling.ts";
import { schemaBreaks } from "./schema.ts";
import { selectorBreaks } from "./selectors.ts";
import { settingBreaks } from "./settings.ts";

/** For each check at least one change to the manifests that violates it, in the order of the checks. */
export const breaks: readonly Break[] = [
  ...schemaBreaks,
  ...podSecurityBreaks,
  ...imageBreaks,
  ...lifeBreaks,
  ...jobBreaks,
  ...networkBreaks,
  ...selectorBreaks,
  ...scalingBreaks,
  ...settingBreaks,
  ...routeBreaks,
];
