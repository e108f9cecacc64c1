package reeve

import (
	"context"
	"time"

	runv1 "reeve.dev/sdk/go/gen/reeve/run/v1"
)

// WatchOptions say what of a run is watched.
type WatchOptions struct {
	// After is the last sequence that was seen. 0: from the beginning.
	After uint32
	// Narrow leaves out what a person does not read.
	Narrow bool
	// Families has exactly what is wanted, instead of Narrow. Nil: not set.
	Families []runv1.EventFamily
}

// Watch gives the events of a run, each once and in order, over any number of lost connections:
//
//	for watch.Next(ctx) {
//		event := watch.Event()
//	}
//	err := watch.Err()
//
// It ends after the run has ended, when the server refuses, when nothing came for the patience of the client, or with its
// context. Close it; it is not safe for concurrent use.
type Watch struct {
	source  *source
	runID   string
	options WatchOptions
	through uint32
	end     runv1.RunStatus
	stream  *stream
	waiting []*runv1.RunEvent
	// Where the message whose events are waiting comes to.
	messageThrough uint32
	messageEnd     runv1.RunStatus
	event          *runv1.RunEvent
	failures       int
	until          time.Time
	err            error
}

// Event is what Next came to.
func (w *Watch) Event() *runv1.RunEvent { return w.event }

// Err is why Next came to nothing; nil when the run has ended.
func (w *Watch) Err() error { return w.err }

// ThroughSequence says up to where nothing that was asked for is missing: the place from which to watch again.
func (w *Watch) ThroughSequence() uint32 { return w.through }

// EndStatus is how the run ended; unspecified until the watch has come to its end.
func (w *Watch) EndStatus() runv1.RunStatus { return w.end }

// Close ends the stream.
func (w *Watch) Close() {
	if w.stream != nil {
		w.stream.cancel(context.Canceled)
		w.stream = nil
	}
}

// Next comes to the next event, and tells whether there is one.
func (w *Watch) Next(ctx context.Context) bool {
	for w.err == nil {
		if event := w.take(); event != nil {
			w.event = event
			return true
		}
		if w.end != runv1.RunStatus_RUN_STATUS_UNSPECIFIED {
			break
		}
		// Time that the caller spent on an event is none in which nothing came.
		if w.failures == 0 {
			w.until = time.Now().Add(w.source.settings.Patience)
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

// take gives the next event of the message in hand; at its end the watch is where the message says.
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
	return nil
}

func (w *Watch) request() *runv1.WatchRunRequest {
	request := &runv1.WatchRunRequest{RunId: w.runID, AfterSequence: w.through}
	if w.options.Families != nil {
		request.Selection = &runv1.WatchRunRequest_Families{Families: &runv1.EventFamilies{Families: w.options.Families}}
	} else {
		request.Selection = &runv1.WatchRunRequest_Detailed{Detailed: !w.options.Narrow}
	}
	return request
}
