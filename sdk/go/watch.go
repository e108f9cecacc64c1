package reeve

import (
	"context"
	"time"

	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
)

// WatchOptions select the events of a watch.
type WatchOptions struct {
	// After is the sequence of the last event that the caller has received. Zero starts from the beginning.
	After uint32
	// ResumeToken is that of the watch that the caller continues. The server then checks that it still has the events up to After.
	ResumeToken string
	// Narrow selects only the events that a person reads.
	Narrow bool
	// Families selects exactly these families, and takes precedence over Narrow. Nil means not set.
	Families []runv1.EventFamily
}

// Watch iterates over the events of a run, each exactly once and in order, across lost connections:
//
//	for watch.Next(ctx) {
//		event := watch.Event()
//	}
//	err := watch.Err()
//
// It ends after the run has ended, if the server refuses the request, if nothing is received for the ReconnectTimeout, or
// when its context ends. The caller must close it. It is not safe for concurrent use.
type Watch struct {
	source  *source
	runID   string
	options WatchOptions
	through uint32
	// Token of the last message. It covers its events even if the caller has not consumed them.
	token   string
	end     runv1.RunStatus
	stream  *stream
	waiting []*runv1.RunEvent
	// Position and end status to set once the waiting events have been consumed.
	messageThrough uint32
	messageEnd     runv1.RunStatus
	event          *runv1.RunEvent
	failures       int
	until          time.Time
	err            error
}

// Event returns the current event, which the last call of Next advanced to.
func (w *Watch) Event() *runv1.RunEvent { return w.event }

// Err returns why Next returned false. It is nil if the run has ended.
func (w *Watch) Err() error { return w.err }

// ThroughSequence returns the sequence up to which all selected events were received. Use it as After to resume the watch.
func (w *Watch) ThroughSequence() uint32 { return w.through }

// ResumeToken names the history that was received. Use it as ResumeToken, together with After, to resume the watch. It is
// empty at first.
func (w *Watch) ResumeToken() string { return w.token }

// EndStatus returns the terminal status of the run. It is unspecified until the watch has ended.
func (w *Watch) EndStatus() runv1.RunStatus { return w.end }

// Close ends the stream.
func (w *Watch) Close() {
	if w.stream != nil {
		w.stream.cancel(context.Canceled)
		w.stream = nil
	}
}

// Next advances to the next event, and reports whether there is one.
func (w *Watch) Next(ctx context.Context) bool {
	for w.err == nil {
		if event := w.take(); event != nil {
			w.event = event
			return true
		}
		if w.end != runv1.RunStatus_RUN_STATUS_UNSPECIFIED {
			break
		}
		// The timeout does not include the time that the caller spent on the last event.
		if w.failures == 0 {
			w.until = time.Now().Add(w.source.settings.ReconnectTimeout)
		}
		if err := w.receive(ctx); err != nil {
			w.Close()
			w.failures++
			if ctx.Err() != nil {
				w.err = ctx.Err()
			} else {
				w.err = backOff(ctx, errorFrom(err), w.failures, w.until)
			}
		}
	}
	w.Close()
	return false
}

// take returns the next event of the current message. After the last one it sets the position and end status of the watch.
func (w *Watch) take() *runv1.RunEvent {
	for len(w.waiting) > 0 {
		event := w.waiting[0]
		w.waiting = w.waiting[1:]
		if event.Sequence > w.through {
			w.through = event.Sequence
			return event
		}
	}
	w.through = max(w.through, w.messageThrough)
	w.end = w.messageEnd
	return nil
}

func (w *Watch) receive(ctx context.Context) error {
	if w.stream == nil {
		w.stream = openStream(ctx, w.source, w.request())
	}
	message, err := w.stream.next(ctx)
	if err != nil {
		return err
	}
	w.failures = 0
	w.waiting, w.messageThrough, w.messageEnd = message.Events, message.ThroughSequence, message.EndStatus
	w.token = message.ResumeToken
	return nil
}

func (w *Watch) request() *runv1.WatchRunRequest {
	request := &runv1.WatchRunRequest{RunId: w.runID, AfterSequence: w.through, ResumeToken: w.token}
	if w.options.Families != nil {
		request.Selection = &runv1.WatchRunRequest_Families{Families: &runv1.EventFamilies{Families: w.options.Families}}
	} else {
		request.Selection = &runv1.WatchRunRequest_Detailed{Detailed: !w.options.Narrow}
	}
	return request
}
