package reeve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"
	toolv1 "reeve.dev/sdk/go/gen/reeve/tool/v1"
)

const (
	firstPause = 500 * time.Millisecond
	maxPause   = 10 * time.Second
	// Clocks may differ: an execution is remembered for this time after the deadline of its call.
	clockSkew     = time.Minute
	maxErrorBytes = 16_384
)

// execution is a call that is known until the server closes it or its deadline is over: a stream may deliver it again after its answer
// was acknowledged.
type execution struct {
	cancel   context.CancelFunc
	deadline time.Time
	isDone   bool
	// isSending says that the call was executed, and its answer is being sent.
	isSending bool
}

type executions struct {
	client   *Client
	clientID string
	tools    map[string]ClientTool
	mutex    sync.Mutex
	known    map[string]*execution
	running  sync.WaitGroup
}

func (e *executions) handle(ctx context.Context, message *toolv1.OfferToolsResponse) {
	if call := message.GetCall(); call != nil {
		e.receive(ctx, call)
	}
	if closed := message.GetClosed(); closed != nil {
		e.remove(closed.RunId + "/" + closed.CallId)
	}
}

// receive executes a call, unless it is known.
func (e *executions) receive(ctx context.Context, call *toolv1.OfferedCall) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.forgetOld()
	key := call.RunId + "/" + call.CallId
	if _, ok := e.known[key]; ok {
		return
	}
	bounded, cancel := context.WithCancel(ctx)
	started := &execution{cancel: cancel, deadline: call.GetDeadline().AsTime()}
	e.known[key] = started
	e.running.Go(func() {
		defer cancel()
		answer := e.execute(bounded, call)
		e.mutex.Lock()
		started.isSending = true
		e.mutex.Unlock()
		isFinal := e.send(bounded, answer, started.deadline)
		e.mutex.Lock()
		defer e.mutex.Unlock()
		started.isDone = true
		if isFinal && e.known[key] == started {
			delete(e.known, key)
		}
	})
}

// finish ends the executions without an answer, and waits until the others have sent theirs, at most for the timeout, or until ctx ends.
func (e *executions) finish(ctx context.Context, timeout time.Duration) {
	e.mutex.Lock()
	for _, each := range e.known {
		if !each.isSending {
			each.cancel()
		}
	}
	e.mutex.Unlock()
	sent := make(chan struct{})
	go func() {
		e.running.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(timeout):
	case <-ctx.Done():
	}
}

func (e *executions) forgetOld() {
	before := time.Now().Add(-clockSkew)
	for key, each := range e.known {
		if each.isDone && each.deadline.Before(before) {
			delete(e.known, key)
		}
	}
}

func (e *executions) remove(key string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if known, ok := e.known[key]; ok {
		known.cancel()
		delete(e.known, key)
	}
}

func (e *executions) execute(ctx context.Context, call *toolv1.OfferedCall) *toolv1.AnswerToolCallRequest {
	answer := &toolv1.AnswerToolCallRequest{RunId: call.RunId, CallId: call.CallId, ClientId: e.clientID}
	tool, ok := e.tools[call.Name]
	if !ok {
		return failed(answer, "this client has no tool "+call.Name)
	}
	result, err := tool.Execute(ctx, call.GetArguments().AsMap(), call)
	if err != nil {
		return failed(answer, err.Error())
	}
	switch result := result.(type) {
	case nil:
		answer.Answer = &toolv1.AnswerToolCallRequest_Text{}
	case string:
		answer.Answer = &toolv1.AnswerToolCallRequest_Text{Text: strings.ToValidUTF8(result, "\uFFFD")}
	case map[string]any:
		structured, err := structpb.NewStruct(result)
		if err != nil {
			return failed(answer, err.Error())
		}
		answer.Answer = &toolv1.AnswerToolCallRequest_Structured{Structured: structured}
	default:
		return failed(answer, fmt.Sprintf("the tool %s returned neither a string nor a map", call.Name))
	}
	return answer
}

func failed(answer *toolv1.AnswerToolCallRequest, message string) *toolv1.AnswerToolCallRequest {
	if message == "" {
		message = "the tool failed without a message"
	}
	message = strings.ToValidUTF8(message[:min(len(message), maxErrorBytes)], "")
	answer.Answer = &toolv1.AnswerToolCallRequest_Error{Error: message}
	return answer
}

// send sends the answer of a call until the server has it, or the deadline is over. It reports whether the server will never need it.
func (e *executions) send(ctx context.Context, answer *toolv1.AnswerToolCallRequest, deadline time.Time) bool {
	for failures := 1; ; failures++ {
		err := e.client.answerCall(ctx, answer)
		if err == nil || ctx.Err() != nil {
			return false
		}
		refusal := errorFrom(err)
		if isFinal(refusal) {
			return true
		}
		if refusal.Code == codes.InvalidArgument {
			if _, isError := answer.Answer.(*toolv1.AnswerToolCallRequest_Error); isError {
				return false
			}
			// The model learns why, and nobody waits for the deadline.
			answer = failed(answer, refusal.Message)
			continue
		}
		if !time.Now().Before(deadline) {
			return false
		}
		pause := min(firstPause<<min(failures-1, 10), maxPause)
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return false
		}
	}
}

func isFinal(refusal *Error) bool {
	switch refusal.Reason {
	case "CALL_CLOSED", "CALL_ANSWERED", "RUN_ENDED":
		return true
	}
	return refusal.Code == codes.NotFound
}

func (c *Client) answerCall(ctx context.Context, answer *toolv1.AnswerToolCallRequest) error {
	_, err := retry(ctx, c.source.settings.RequestTimeout, func(ctx context.Context) (*toolv1.AnswerToolCallResponse, error) {
		return toolv1.NewClientToolServiceClient(c.source.get()).AnswerToolCall(ctx, answer)
	})
	return err
}
