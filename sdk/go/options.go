// Package reeve is a client library for Reeve: it starts runs, watches them across lost connections, and decides approvals.
// The generated protobuf messages are in the packages below gen.
package reeve

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"time"
)

// Options are the address and credentials of a server, and the time limits of its client. A time limit of zero means its
// default.
type Options struct {
	// Address is http://host:port or https://host:port.
	Address string
	// Token is the bearer token. If empty, requests carry no credentials.
	Token string
	// CA contains PEM certificates of the authorities to trust instead of those of the system. Used only with https.
	CA []byte
	// RequestTimeout is the time limit of a request, all attempts together. Default: 10 s.
	RequestTimeout time.Duration
	// TransferTimeout is the time limit of an upload or a download. Default: 5 min.
	TransferTimeout time.Duration
	// IdleTimeout is how long a stream may be silent, heartbeats included, before its connection counts as lost. Default: 15 s.
	IdleTimeout time.Duration
	// ReconnectTimeout is how long a watch tries to reconnect without receiving anything before it gives up. Default: 30 s.
	ReconnectTimeout time.Duration
}

type settings struct {
	Options
	target string
	secure bool
	pool   *x509.CertPool
}

func settingsOf(options Options) (settings, error) {
	address, err := url.Parse(options.Address)
	if err != nil || address.Hostname() == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return settings{}, fmt.Errorf("%q is not a server address; use http://host:port", options.Address)
	}
	found := settings{Options: options, target: address.Host, secure: address.Scheme == "https"}
	if address.Port() == "" {
		found.target += map[bool]string{true: ":443", false: ":80"}[found.secure]
	}
	if options.CA != nil {
		found.pool = x509.NewCertPool()
		if !found.pool.AppendCertsFromPEM(options.CA) {
			return settings{}, fmt.Errorf("CA contains no certificate")
		}
	}
	for _, each := range []struct {
		name     string
		value    *time.Duration
		fallback time.Duration
	}{
		{"RequestTimeout", &found.RequestTimeout, 10 * time.Second},
		{"TransferTimeout", &found.TransferTimeout, 5 * time.Minute},
		{"IdleTimeout", &found.IdleTimeout, 15 * time.Second},
		{"ReconnectTimeout", &found.ReconnectTimeout, 30 * time.Second},
	} {
		if *each.value < 0 {
			return settings{}, fmt.Errorf("%s is %v; use a positive duration", each.name, *each.value)
		}
		if *each.value == 0 {
			*each.value = each.fallback
		}
	}
	return found, nil
}
