"""Test driver of the Python client: executes one operation per process, and reports it as lines of JSON."""

import asyncio
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import reeve_client
from reeve.approval.v1.approval_pb2 import APPROVAL_STATE_PENDING


def report(**line):
    print(json.dumps(line), flush=True)


def seconds(name: str) -> float:
    return float(os.environ[name]) / 1000


async def start(reeve, agent_id, input, request_id):
    report(run=(await reeve.start_run(agent_id, input, request_id=request_id)).run_id)


async def watch(reeve, run_id, after):
    watch = reeve.watch(run_id, after=int(after))
    async for event in watch:
        report(event=event.sequence)
        if event.approval.approval.state == APPROVAL_STATE_PENDING:
            await decide(reeve, event.approval.approval)
    report(ended=watch.end_status, through=watch.through_sequence)


async def decide(reeve, approval):
    await reeve.decide(approval.approval_id, approved=True)
    report(approved=approval.approval_id)


async def approve(reeve, run_id):
    for approval in await reeve.list_approvals(run_id):
        await decide(reeve, approval)


async def measure(reeve, run_id):
    started_at = time.perf_counter()
    events = 0
    async for _ in reeve.watch(run_id):
        events += 1
    report(count=events, ms=(time.perf_counter() - started_at) * 1000)


async def tools(reeve, run_id):
    def repeat(arguments, call):
        report(served=call.call_id)
        return f"echo {arguments['text']}"

    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    echo = reeve_client.ClientTool("echo", "Repeats a text.", repeat, input_schema=schema)
    await reeve.serve_tools([echo], run_id=run_id, client_id="driver")
    report(left=True)


async def cancel(reeve, run_id):
    report(status=(await reeve.cancel(run_id, "enough")).status)


async def files(reeve, path):
    stored = await reeve.upload(Path(path).name, Path(path).read_bytes(), "text/plain")
    download = await reeve.download(stored.artifact_id)
    sha256 = hashlib.sha256(await download.read()).hexdigest()
    report(size=download.artifact.size_bytes, name=download.artifact.name, sha256=sha256)


async def main():
    ca = os.environ.get("REEVE_CA")
    async with reeve_client.connect(
        os.environ["REEVE_URL"],
        os.environ.get("REEVE_TOKEN") or None,
        ca=Path(ca).read_bytes() if ca else None,
        request_timeout=seconds("REEVE_REQUEST_MS"),
        idle_timeout=seconds("REEVE_IDLE_TIMEOUT_MS"),
        reconnect_timeout=seconds("REEVE_RECONNECT_TIMEOUT_MS"),
    ) as reeve:
        try:
            operations = [start, watch, approve, measure, tools, cancel, files]
            operation = next(each for each in operations if each.__name__ == sys.argv[1])
            await operation(reeve, *sys.argv[2:])
        except reeve_client.ReeveError as error:
            fields = [violation.field for violation in error.violations]
            report(error={"code": error.code.name, "reason": error.reason, "message": error.message, "fields": fields})


asyncio.run(main())
