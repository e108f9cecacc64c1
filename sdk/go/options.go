// Package reeve is a client of Reeve: it starts runs, watches them over lost connections, and decides approvals.
// The messages are those of the contracts, generated in the packages below gen.
package reeve

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"time"
)

// Options say where a server is, and how long its client bears what goes wrong. A time of zero is its default.
type Options struct {
	// Address is http://host:port or https://host:port.
	Address string
	// Token is the bearer token. Empty: none is sent.
	Token string
	// CA has certificates, in PEM, of the authorities to trust instead of those of the system. Only with https.
	CA []byte
	// RequestTimeout is how long a request may take, all attempts together. Default: 10 s.
	RequestTimeout time.Duration
	// TransferTimeout is how long a file may be on its way. Default: 5 min.
	TransferTimeout time.Duration
	// Silence is how long a stream may say nothing, heartbeats included, until its connection counts as lost. Default: 15 s.
	Silence time.Duration
	// Patience is how long nothing may come of any attempt to watch until that is given up. Default: 30 s.
	Patience time.Duration
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
		return settings{}, fmt.Errorf("%q is no address: write http://host:port", options.Address)
	}
	found := settings{Options: options, target: address.Host, secure: address.Scheme == "https"}
	if address.Port() == "" {
		found.target += map[bool]string{true: ":443", false: ":80"}[found.secure]
	}
	if options.CA != nil {
		found.pool = x509.NewCertPool()
		if !found.pool.AppendCertsFromPEM(options.CA) {
			return settings{}, fmt.Errorf("there is no certificate in CA")
		}
	}
	for _, each := range []struct {
		name     string
		value    *time.Duration
		fallback time.Duration
	}{
		{"RequestTimeout", &found.RequestTimeout, 10 * time.Second},
		{"TransferTimeout", &found.TransferTimeout, 5 * time.Minute},
		{"Silence", &found.Silence, 15 * time.Second},
		{"Patience", &found.Patience, 30 * time.Second},
	} {
		if *each.value < 0 {
			return settings{}, fmt.Errorf("%s is %v: it must be positive", each.name, *each.value)
		}
		if *each.value == 0 {
			*each.value = each.fallback
		}
	}
	return found, nil
}
