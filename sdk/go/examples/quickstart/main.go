package main

import (
	"context"
	"fmt"
	"log"
	"os"

	reeve "reeve.dev/sdk/go"
	approvalv1 "reeve.dev/sdk/go/gen/reeve/approval/v1"
	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
	toolv1 "reeve.dev/sdk/go/gen/reeve/tool/v1"
)

func main() {
	ctx := context.Background()
	client, err := reeve.Connect(reeve.Options{Address: os.Getenv("REEVE_URL"), Token: os.Getenv("REEVE_TOKEN")})
	must(err)
	defer client.Close()
	content, err := os.Open("examples/csv-report/sales.csv")
	must(err)
	file, err := client.Upload(ctx, "data.csv", "text/csv", content)
	must(err)
	run, err := client.StartRun(ctx, &runv1.StartRunRequest{
		AgentId: "csv-report", Input: "Summarize the file.",
		Files: []*toolv1.WorkspaceFile{{ArtifactId: file.ArtifactId, Path: "data.csv"}},
	})
	must(err)
	watch := client.Watch(run.RunId, reeve.WatchOptions{})
	for watch.Next(ctx) {
		fmt.Print(watch.Event().GetText().GetText())
		if watch.Event().GetStep().GetState() == runv1.StepState_STEP_STATE_COMPLETED {
			fmt.Println()
		}
		approval := watch.Event().GetApproval().GetApproval()
		if approval.GetState() == approvalv1.ApprovalState_APPROVAL_STATE_PENDING {
			_, err := client.Decide(ctx, &approvalv1.DecideApprovalRequest{ApprovalId: approval.ApprovalId, Approved: true})
			must(err)
		}
	}
	must(watch.Err())
	fmt.Printf("\n%s\n", watch.EndStatus())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
