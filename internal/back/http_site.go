package back

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// HTTPOptions configures a backend that is reached by URL ([HTTP], [SSE],
// [Auto]).
type HTTPOptions struct {
	Name string // of the backend, for the log
	URL  string // of the endpoint; http or https

	// Header goes with every request, and to no other origin than that of URL. Its
	// values are never logged. What the transport itself sets wins over it.
	Header http.Header

	// ConnectTimeout bounds the connection to the server, then the TLS handshake,
	// then the wait for the endpoint event of HTTP+SSE. Zero means 10 s. How long
	// an answer may take is for the ctx of Send to say.
	ConnectTimeout time.Duration

	// MaxMessage is the longest message taken from the backend, in bytes. Zero
	// means [DefaultMaxMessage]. A longer one is skipped; if it is the response,
	// its request fails.
	MaxMessage int

	// ResumeAttempts is how many connections in a row may bring nothing before
	// the resumption of a broken answer is given up. Zero means 8, with pauses
	// that add up to two minutes; negative means that nothing is resumed.
	ResumeAttempts int
}

// What a connection has for each direction, for as long as an answer may take: a call
// that waits for a person holds one. What is larger is read and written past it; to
// read past it costs more reads, so that it must be larger than the first buffer of
// wire.EventReader.
const (
	writeBufferBytes = 1 << 10
	readBufferBytes  = 2 << 10
)

// site makes the HTTP requests to one backend, over connections of its own.
type site struct {
	o    HTTPOptions
	url  *url.URL
	http *http.Client
	log  *slog.Logger
}

func newSite(log *slog.Logger, o HTTPOptions) (*site, error) {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 10*time.Second)
	o.MaxMessage = cmp.Or(o.MaxMessage, DefaultMaxMessage)
	o.ResumeAttempts = cmp.Or(o.ResumeAttempts, 8)
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("the backend's URL is malformed") // the URL may hold a token
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the backend's URL must begin with http:// or https:// and name a host")
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: o.ConnectTimeout}).DialContext,
		TLSHandshakeTimeout:    o.ConnectTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    100,
		WriteBufferSize:        writeBufferBytes,
		ReadBufferSize:         readBufferBytes,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
	return &site{
		o: o, url: u, log: log.With("backend", o.Name),
		http: &http.Client{Transport: transport, CheckRedirect: sameOriginOnly},
	}, nil
}

// Close closes the connections that are kept for reuse. Those in use end with
// their Conn.
func (s *site) Close() { s.http.CloseIdleConnections() }

// sameOriginOnly follows a redirect only where the headers may go too, and only
// if it keeps the method: a POST that became a GET has lost its message.
func sameOriginOnly(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !sameOrigin(req.URL, first.URL):
		return down(fmt.Errorf("redirected to %s", req.URL.Host),
			"the backend redirects to another origin, which is not followed")
	case req.Method != first.Method:
		return down(fmt.Errorf("%s became %s", first.Method, req.Method),
			"the backend answers with a redirect that loses the message")
	case len(via) > 5:
		return down(errors.New("more than 5 redirects"), "the backend redirects for ever")
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// header returns what every request has, with accept.
func (s *site) header(accept string) http.Header {
	h := s.o.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	h.Set("Accept", accept)
	return h
}

// do sends one request. Its error names no URL, which may hold a token.
func (s *site) do(ctx context.Context, method, to string, h http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, down(errors.New("malformed request"), "the backend cannot be reached")
	}
	req.Header = h
	resp, err := s.http.Do(req)
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return nil, abandoned(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if f, ok := errors.AsType[*fault](err); ok {
		return nil, f
	}
	if unreached(err) {
		return nil, down(err, "the backend cannot be reached")
	}
	return nil, gone(err, "the connection to the backend broke before it answered")
}

// unreached reports whether err came before the request could be sent.
func unreached(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// refusal is an HTTP status with which a backend refused a message.
type refusal struct {
	status int
	reply  wire.Message // the JSON-RPC error in the body; Invalid when there was none
}

func (r *refusal) Error() string { return r.fault().Error() }

func (r *refusal) Unwrap() error { return r.fault() }

func (r *refusal) fault() error {
	cause := errors.New("no reason given")
	if text, ok := wire.Text(r.reply.Error(), "message"); ok {
		cause = errors.New(text)
	}
	if r.credentials() {
		return down(cause, "the backend refuses our credentials (HTTP status %d)", r.status)
	}
	return down(cause, "the backend refused the message with HTTP status %d", r.status)
}

// credentials reports whether it is our credentials that are refused.
func (r *refusal) credentials() bool {
	return r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
}

// refused reads the refusal in a response that is not 2xx.
func (s *site) refused(resp *http.Response) *refusal {
	r := &refusal{status: resp.StatusCode}
	if body, err := s.readAll(resp); err == nil {
		if m, err := wire.Parse(body); err == nil && m.Kind() == wire.Failure {
			r.reply = m
		}
	}
	return r
}

// readAll reads a body that is one message.
func (s *site) readAll(resp *http.Response) ([]byte, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(resp.ContentLength, 0), 1<<20)) + bytes.MinRead)
	n, err := body.ReadFrom(io.LimitReader(resp.Body, int64(s.o.MaxMessage)+1))
	if err == nil && n > int64(s.o.MaxMessage) {
		err = fmt.Errorf("a body of more than %d bytes: %w", s.o.MaxMessage, wire.ErrTooLong)
	}
	return body.Bytes(), err
}

// mediaType returns the content type of a response, without parameters.
func mediaType(resp *http.Response) string {
	t, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}
