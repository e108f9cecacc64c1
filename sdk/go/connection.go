package reeve

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// source holds the current connection, and replaces it when it becomes silent.
type source struct {
	settings settings
	mutex    sync.Mutex
	current  *grpc.ClientConn
}

func (s *source) open() (*grpc.ClientConn, error) {
	security := insecure.NewCredentials()
	if s.settings.secure {
		security = credentials.NewTLS(&tls.Config{RootCAs: s.settings.pool, MinVersion: tls.VersionTLS12})
	}
	return grpc.NewClient("passthrough:///"+s.settings.target,
		grpc.WithTransportCredentials(security),
		grpc.WithPerRPCCredentials(bearer(s.settings.Token)),
		grpc.WithDisableRetry(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstDelay, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	)
}

func (s *source) get() *grpc.ClientConn {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.current
}

// renew replaces the suspect connection, unless it was already replaced. Other streams on it are cut off, and reconnect.
func (s *source) renew(suspect *grpc.ClientConn) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.current != suspect {
		return
	}
	// Opening succeeded before and does not connect yet, so it does not fail now.
	if fresh, err := s.open(); err == nil {
		s.current = fresh
		_ = suspect.Close()
	}
}

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity returns false, because connections to a server on the same machine do not use TLS.
func (b bearer) RequireTransportSecurity() bool { return false }
