import { z } from "zod";
import { providerModule } from "../registry/provider-module.ts";
import { readSetting } from "../registry/read-setting.ts";
import { loadScripts } from "./load-scripts.ts";
import { scriptedProvider } from "./scripted-provider.ts";

/** The provider `scripted`, configured by `REEVE_SCRIPTS`. Its default model is the script `default`, or the only script. */
export const scriptedModule = providerModule({
  settings: {
    /** A folder with scripts. */
    REEVE_SCRIPTS: z.string().optional(),
  },
  async open({ REEVE_SCRIPTS: folder }, signal) {
    const scripts =
      (await readSetting("REEVE_SCRIPTS", folder, (path) => loadScripts(path, signal))) ?? [];
    if (scripts.length === 0) return undefined;
    const script =
      scripts.length === 1 ? scripts[0] : scripts.find(({ name }) => name === "default");
    return { provider: scriptedProvider(scripts), defaultModel: script?.name };
  },
});
