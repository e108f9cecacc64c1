"""Serves the example in Python, whose first attempt of a gate waits after its effect.

The environment names the files of `HookFiles`.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "examples" / "plugin-python"))
import plugin  # noqa: E402

ATTEMPTS = Path(os.environ["PLUGIN_ATTEMPTS"])
RELEASE = Path(os.environ["PLUGIN_RELEASE"])


class HangingPlugin(plugin.Plugin):
    def RunHook(self, request, context):
        answer = super().RunHook(request, context)
        is_first = request.hook_id not in ATTEMPTS.read_text().splitlines()
        with ATTEMPTS.open("a") as lines:
            lines.write(f"{request.hook_id}\n")
        while is_first and ":tool_gate:" in request.hook_id and not RELEASE.exists():
            time.sleep(0.02)
        return answer


plugin.Plugin = HangingPlugin
plugin.main()
