// Test driver of the Go client: executes one operation per process, and reports it as lines of JSON.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	reeve "reeve.dev/sdk/go"
	approvalv1 "reeve.dev/sdk/go/gen/reeve/approval/v1"
	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
	toolv1 "reeve.dev/sdk/go/gen/reeve/tool/v1"
)

type line map[string]any

func report(what line) {
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		log.Fatal(err)
	}
}

func milliseconds(name string) time.Duration {
	number, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatal(err)
	}
	return time.Duration(number) * time.Millisecond
}

func main() {
	options := reeve.Options{
		Address:          os.Getenv("REEVE_URL"),
		Token:            os.Getenv("REEVE_TOKEN"),
		RequestTimeout:   milliseconds("REEVE_REQUEST_MS"),
		IdleTimeout:      milliseconds("REEVE_IDLE_TIMEOUT_MS"),
		ReconnectTimeout: milliseconds("REEVE_RECONNECT_TIMEOUT_MS"),
	}
	if path := os.Getenv("REEVE_CA"); path != "" {
		ca, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		options.CA = ca
	}
	client, err := reeve.Connect(options)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = perform(context.Background(), client, os.Args[1], append(os.Args[2:], "", "", ""))
	var refused *reeve.Error
	if errors.As(err, &refused) {
		fields := []string{}
		for _, each := range refused.Violations {
			fields = append(fields, each.Field)
		}
		name := code.Code(refused.Code).String()
		report(line{"error": line{"code": name, "reason": refused.Reason, "message": refused.Message, "fields": fields}})
	} else if err != nil {
		log.Fatal(err)
	}
}

func perform(ctx context.Context, client *reeve.Client, operation string, operands []string) error {
	switch operation {
	case "start":
		run, err := client.StartRun(ctx, &runv1.StartRunRequest{AgentId: operands[0], Input: operands[1], RequestId: operands[2]})
		if err == nil {
			report(line{"run": run.RunId})
		}
		return err
	case "watch":
		return watch(ctx, client, operands[0], operands[1])
	case "approve":
		approvals, err := client.ListApprovals(ctx, operands[0])
		for _, each := range approvals {
			err = errors.Join(err, decide(ctx, client, each.ApprovalId))
		}
		return err
	case "measure":
		startedAt, events := time.Now(), 0
		watch := client.Watch(operands[0], reeve.WatchOptions{})
		for watch.Next(ctx) {
			events++
		}
		report(line{"count": events, "ms": float64(time.Since(startedAt).Microseconds()) / 1000})
		return watch.Err()
	case "tools":
		schema := map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}
		echo := reeve.ClientTool{
			Name: "echo", Description: "Repeats a text.", InputSchema: schema,
			Execute: func(_ context.Context, arguments map[string]any, call *toolv1.OfferedCall) (any, error) {
				report(line{"served": call.CallId})
				return fmt.Sprintf("echo %v", arguments["text"]), nil
			},
		}
		err := client.ServeTools(ctx, []reeve.ClientTool{echo}, reeve.ServeOptions{RunID: operands[0], ClientID: "driver"})
		if err == nil {
			report(line{"left": true})
		}
		return err
	case "cancel":
		run, err := client.Cancel(ctx, operands[0], "enough")
		if err == nil {
			report(line{"status": run.Status})
		}
		return err
	default:
		return files(ctx, client, operands[0])
	}
}

func watch(ctx context.Context, client *reeve.Client, runID, after string) error {
	sequence, err := strconv.ParseUint(after, 10, 32)
	if err != nil {
		return err
	}
	watch := client.Watch(runID, reeve.WatchOptions{After: uint32(sequence)})
	defer watch.Close()
	for watch.Next(ctx) {
		report(line{"event": watch.Event().Sequence})
		approval := watch.Event().GetApproval().GetApproval()
		if approval.GetState() != approvalv1.ApprovalState_APPROVAL_STATE_PENDING {
			continue
		}
		if err := decide(ctx, client, approval.ApprovalId); err != nil {
			return err
		}
	}
	if watch.Err() == nil {
		report(line{"ended": watch.EndStatus(), "through": watch.ThroughSequence()})
	}
	return watch.Err()
}

func decide(ctx context.Context, client *reeve.Client, approvalID string) error {
	_, err := client.Decide(ctx, &approvalv1.DecideApprovalRequest{ApprovalId: approvalID, Approved: true})
	if err == nil {
		report(line{"approved": approvalID})
	}
	return err
}

func files(ctx context.Context, client *reeve.Client, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	stored, err := client.Upload(ctx, filepath.Base(path), "text/plain", bytes.NewReader(content))
	if err != nil {
		return err
	}
	hash := sha256.New()
	artifact, err := client.Download(ctx, stored.ArtifactId, hash)
	if err != nil {
		return err
	}
	report(line{"size": artifact.SizeBytes, "name": artifact.Name, "sha256": hex.EncodeToString(hash.Sum(nil))})
	return nil
}
