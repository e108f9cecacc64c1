package reeve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	toolv1 "reeve.dev/sdk/go/gen/reeve/tool/v1"
)

// ClientTool is a tool that this process executes.
type ClientTool struct {
	// Name is the name by which the model calls the tool.
	Name string
	// Description says what the tool does. The model reads it.
	Description string
	// InputSchema is the JSON Schema of the arguments. Nil: the tool has none.
	InputSchema map[string]any
	// OutputSchema is the JSON Schema of the result, which then is a map. The server checks it. Nil: any text or map.
	OutputSchema map[string]any
	// PermissionClass is `network` if it is empty.
	PermissionClass string
	// Serial says that calls do not run beside other calls of a turn.
	Serial bool
	// Timeout is how long a call waits for its answer. Zero: a minute, or a day if a person answers.
	Timeout time.Duration
	// AnsweredByPerson says that a person answers. The run then occupies no worker while it waits.
	AnsweredByPerson bool
	// Execute executes a call. Its result is a string, a map[string]any, or nil; the model reads its error. The context ends when the
	// call needs no answer anymore.
	Execute func(ctx context.Context, arguments map[string]any, call *toolv1.OfferedCall) (any, error)
}

// ServeOptions say to what tools are offered, and as which client.
type ServeOptions struct {
	// ThreadID is the thread whose runs get the tools from now on.
	ThreadID string
	// RunID is the run that was started with the same tools as ClientTools. It takes precedence over ThreadID.
	RunID string
	// ClientID is unique for each process, and the same when a process continues after a crash.
	ClientID string
	// OnReady is called for each connection once the tools are offered, with what the target does not have of them. It may be nil.
	OnReady func(warnings []string)
}

// Manifest returns what a client tells a server about its tools. Pass it as ClientTools to StartRun, so that one run has them.
func Manifest(clientID string, tools []ClientTool) (*toolv1.ClientManifest, error) {
	manifest := &toolv1.ClientManifest{ClientId: clientID}
	for _, tool := range tools {
		parallel := !tool.Serial
		entry := &toolv1.ClientTool{
			Name: tool.Name, Description: tool.Description, PermissionClass: tool.PermissionClass,
			ParallelSafe: &parallel, AnsweredByPerson: tool.AnsweredByPerson,
		}
		var err error
		if entry.InputSchema, err = schemaOf(tool.InputSchema); err != nil {
			return nil, fmt.Errorf("the input schema of %s: %w", tool.Name, err)
		}
		if entry.OutputSchema, err = schemaOf(tool.OutputSchema); err != nil {
			return nil, fmt.Errorf("the output schema of %s: %w", tool.Name, err)
		}
		if tool.Timeout > 0 {
			entry.Timeout = durationpb.New(tool.Timeout)
		}
		manifest.Tools = append(manifest.Tools, entry)
	}
	return manifest, nil
}

func schemaOf(schema map[string]any) (*structpb.Struct, error) {
	if schema == nil {
		return nil, nil
	}
	return structpb.NewStruct(schema)
}

// ServeTools offers tools to the runs of a thread, or to one run, and executes their calls, across lost connections, until the run has
// ended, which returns nil, or ctx ends. Each call is executed once, by one client: an answer that did not reach the
// server is sent again. If the server refuses the tools for good, it returns once the answers that the server lacks were sent, after the
// request timeout at the latest.
func (c *Client) ServeTools(ctx context.Context, tools []ClientTool, options ServeOptions) error {
	manifest, err := Manifest(options.ClientID, tools)
	if err != nil {
		return err
	}
	request := &toolv1.OfferToolsRequest{Manifest: manifest}
	if options.RunID != "" {
		request.Target = &toolv1.OfferToolsRequest_RunId{RunId: options.RunID}
	} else {
		request.Target = &toolv1.OfferToolsRequest_ThreadId{ThreadId: options.ThreadID}
	}
	ctx, end := context.WithCancel(ctx)
	executions := &executions{client: c, clientID: options.ClientID, tools: map[string]ClientTool{}, known: map[string]*execution{}}
	for _, tool := range tools {
		executions.tools[tool.Name] = tool
	}
	defer executions.running.Wait()
	defer end()
	failures, until := 0, time.Now().Add(c.source.settings.ReconnectTimeout)
	for {
		err := c.receiveCalls(ctx, request, func(message *toolv1.OfferToolsResponse) {
			if message.GetReady() == nil {
				failures = 0
			} else if options.OnReady != nil {
				options.OnReady(message.GetReady().GetWarnings())
			}
			until = time.Now().Add(c.source.settings.ReconnectTimeout)
			executions.handle(ctx, message)
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err.Reason == "RUN_ENDED" {
			return nil
		}
		failures++
		// The server has no room now: for anything, or for another client. Calls that were received can still be answered.
		if err := backOff(ctx, err, failures, until, "STORAGE_FULL", "TOO_MANY_CLIENTS"); err != nil {
			executions.finish(ctx, c.source.settings.RequestTimeout)
			return err
		}
	}
}

// receiveCalls receives the messages of one stream until it ends, and returns why it did.
func (c *Client) receiveCalls(ctx context.Context, request *toolv1.OfferToolsRequest, handle func(*toolv1.OfferToolsResponse)) *Error {
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	connection := c.source.get()
	messages, err := toolv1.NewClientToolServiceClient(connection).OfferTools(bounded, request)
	if err != nil {
		return errorFrom(err)
	}
	for {
		message, err := c.receiveInTime(bounded, connection, messages, cancel)
		if err != nil {
			return err
		}
		handle(message)
	}
}

func (c *Client) receiveInTime(
	ctx context.Context, connection *grpc.ClientConn, messages grpc.ServerStreamingClient[toolv1.OfferToolsResponse],
	cancel context.CancelCauseFunc,
) (*toolv1.OfferToolsResponse, *Error) {
	idleTimeout := c.source.settings.IdleTimeout
	timer := time.AfterFunc(idleTimeout, func() { cancel(errSilent) })
	defer timer.Stop()
	message, err := messages.Recv()
	switch {
	case err == nil:
		return message, nil
	case context.Cause(ctx) == errSilent:
		c.source.renew(connection)
		return nil, lost("the stream of the tools was silent for %v", idleTimeout)
	case errors.Is(err, io.EOF):
		return nil, lost("the stream of the tools ended early")
	default:
		return nil, errorFrom(err)
	}
}
