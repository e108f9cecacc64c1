import asyncio, os, reeve_client
from reeve.approval.v1.approval_pb2 import ApprovalState
from reeve.run.v1.run_event_pb2 import RunStatus

async def main():
    async with reeve_client.connect(os.environ["REEVE_URL"], os.environ["REEVE_TOKEN"]) as reeve:
        run = await reeve.start_run("csv-report", "Summarize the file.")
        watch = reeve.watch(run.run_id)
        async for event in watch:
            print(event.text.text, end="")
            if event.approval.approval.state == ApprovalState.APPROVAL_STATE_PENDING:
                await reeve.decide(event.approval.approval.approval_id, approved=True)
        print("\n" + RunStatus.Name(watch.end_status))

asyncio.run(main())
