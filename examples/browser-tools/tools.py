# Offers a tool of this machine to the thread of the page.
import asyncio
import os
import platform
import sys

import reeve_client


async def main() -> None:
    thread = sys.argv[1] if len(sys.argv) > 1 else "browser-tools"
    machine_name = reeve_client.ClientTool(
        name="machine_name",
        description="Returns the name of the user's machine.",
        execute=lambda arguments, call: platform.node() or "unknown",
    )
    url, token = os.environ["REEVE_URL"], os.environ["REEVE_TOKEN"]
    # A server may need a while to start again.
    async with reeve_client.connect(url, token, reconnect_timeout=600) as reeve:
        await reeve.serve_tools(
            [machine_name],
            thread_id=thread,
            # One process of this program per machine.
            client_id="machine",
            on_ready=lambda warnings: print("offered", *warnings, flush=True),
        )


asyncio.run(main())
