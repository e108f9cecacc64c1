package reeve

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
)

// stream receives the events of a run over one connection, and detects when the connection is silent.
type stream struct {
	source     *source
	connection *grpc.ClientConn
	runID      string
	cancel     context.CancelCauseFunc
	context    context.Context
	request    *runv1.WatchRunRequest
	messages   grpc.ServerStreamingClient[runv1.WatchRunResponse]
}

var errSilent = errors.New("silent")

func openStream(ctx context.Context, source *source, request *runv1.WatchRunRequest) *stream {
	bounded, end := context.WithCancelCause(context.WithoutCancel(ctx))
	return &stream{
		source: source, connection: source.get(), runID: request.RunId,
		context: bounded, request: request, cancel: end,
	}
}

func (s *stream) next(ctx context.Context) (*runv1.WatchRunResponse, error) {
	idleTimeout := s.source.settings.IdleTimeout
	timer := time.AfterFunc(idleTimeout, func() { s.cancel(errSilent) })
	defer timer.Stop()
	stop := context.AfterFunc(ctx, func() { s.cancel(ctx.Err()) })
	defer stop()
	message, err := s.receive()
	switch {
	case err == nil:
		return message, nil
	case context.Cause(s.context) == errSilent:
		s.source.renew(s.connection)
		return nil, lost("the stream of run %s was silent for %v", s.runID, idleTimeout)
	case errors.Is(err, io.EOF):
		return nil, lost("the stream of run %s ended before the run", s.runID)
	default:
		return nil, err
	}
}

func (s *stream) receive() (*runv1.WatchRunResponse, error) {
	if s.messages == nil {
		messages, err := runv1.NewRunServiceClient(s.connection).WatchRun(s.context, s.request)
		if err != nil {
			return nil, err
		}
		s.messages = messages
	}
	return s.messages.Recv()
}
