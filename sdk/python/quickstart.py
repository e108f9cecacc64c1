import asyncio, os, reeve_client
from pathlib import Path
from reeve.approval.v1.approval_pb2 import ApprovalState
from reeve.run.v1.run_event_pb2 import RunStatus, StepState

async def main():
    async with reeve_client.connect(os.environ["REEVE_URL"], os.environ["REEVE_TOKEN"]) as reeve:
        file = await reeve.upload("data.csv", Path("examples/csv-report/sales.csv").read_bytes())
        files = [{"artifact_id": file.artifact_id, "path": "data.csv"}]
        run = await reeve.start_run("csv-report", "Summarize the file.", files=files)
        watch = reeve.watch(run.run_id)
        async for event in watch:
            print(event.text.text, end="")
            if event.step.state == StepState.STEP_STATE_COMPLETED:
                print()
            approval = event.approval.approval
            if approval.state == ApprovalState.APPROVAL_STATE_PENDING:
                await reeve.decide(approval.approval_id, approved=True)
        print("\n" + RunStatus.Name(watch.end_status))

asyncio.run(main())
