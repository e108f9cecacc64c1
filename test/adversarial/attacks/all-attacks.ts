import type { Attack, Category } from "../support/attack.ts";
import { archives } from "./archives.ts";
import { exhaustions } from "./exhaustion.ts";
import { fileTools } from "./file-tools.ts";
import { kernelInterfaces } from "./kernel-interfaces.ts";
import { kernelSettings } from "./kernel-settings.ts";
import { lists } from "./lists.ts";
import { modules } from "./modules.ts";
import { namespaces } from "./namespaces.ts";
import { network } from "./network.ts";
import { oddFiles } from "./odd-files.ts";
import { otherFiles } from "./other-files.ts";
import { output } from "./output.ts";
import { results } from "./results.ts";
import { secrets } from "./secrets.ts";
import { sessions } from "./sessions.ts";
import { signals } from "./signals.ts";
import { survivors } from "./survivors.ts";
import { toolhost } from "./toolhost.ts";

/** All attacks by category, in the order of the table. */
export const categories: readonly Category[] = [
  otherFiles,
  secrets,
  kernelSettings,
  namespaces,
  network,
  kernelInterfaces,
  signals,
  sessions,
  modules,
  survivors,
  output,
  exhaustions,
  fileTools,
  oddFiles,
  archives,
  lists,
  results,
  toolhost,
];

export const allAttacks: readonly Attack[] = categories.flatMap(({ attacks }) => attacks);
