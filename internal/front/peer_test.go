package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/pipenet"
	"github.com/beckon-mcp/beckon/internal/wire"
)

var discard = slog.New(slog.DiscardHandler)

func initializeAs(r wire.Revision) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{}},"clientInfo":{"name":"peer","version":"1"}}}`, r)
}

func initialized(r wire.Revision) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}}`, r)
}

const initializedNote = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// pipePeer is a scripted client at the other end of stdio.
type pipePeer struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *io.PipeReader
	lines *bufio.Reader
	done  chan error // what ServeStdio returned
	stop  context.CancelFunc
}

func newPipePeer(t *testing.T, relay Relay, o Options) *pipePeer {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &pipePeer{t: t, in: inW, out: outR, lines: bufio.NewReader(outR), done: make(chan error, 1), stop: stop}
	go func() {
		p.done <- ServeStdio(ctx, inR, outW, relay, o, discard)
		outW.Close()
	}()
	return p
}

func (p *pipePeer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatalf("sending %.80s: %v", l, err)
		}
	}
}

// next returns the next line.
func (p *pipePeer) next() string {
	p.t.Helper()
	text, err := p.lines.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading a line: %v", err)
	}
	return strings.TrimSuffix(text, "\n")
}

// want reads one line and compares it.
func (p *pipePeer) want(why, want string) {
	p.t.Helper()
	if got := p.next(); got != want {
		p.t.Fatalf("%s\n got %s\nwant %s", why, got, want)
	}
}

// wantPart reads one line that must contain some text.
func (p *pipePeer) wantPart(why string, parts ...string) {
	p.t.Helper()
	got := p.next()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			p.t.Fatalf("%s\n got %s\nwant it to contain %s", why, got, part)
		}
	}
}

// shake does the handshake.
func (p *pipePeer) shake(r wire.Revision) {
	p.t.Helper()
	p.send(initializeAs(r))
	p.want("the response to initialize", initialized(r))
	p.send(initializedNote)
}

// leave closes the peer's end and returns what the front says.
func (p *pipePeer) leave() error {
	p.t.Helper()
	p.in.Close()
	go io.Copy(io.Discard, p.lines)
	err := <-p.done
	p.stop()
	return err
}

// web is a front over HTTP on a network of pipes.
type web struct {
	t      *testing.T
	relay  *fakeRelay
	net    *pipenet.Net
	http   *HTTP
	client *http.Client
	stop   context.CancelFunc
	served chan error
	base   context.Context // of all requests
	hangup context.CancelFunc
}

func newWeb(t *testing.T, relay *fakeRelay, o Options) *web {
	ctx, stop := context.WithCancel(t.Context())
	n := pipenet.New()
	h := &web{
		t: t, relay: relay, net: n, stop: stop,
		http:   NewHTTP(relay, o, discard),
		client: &http.Client{Transport: &http.Transport{DialContext: n.Dial}},
		served: make(chan error, 1),
	}
	h.base, h.hangup = context.WithCancel(context.Background())
	go func() { h.served <- h.http.Serve(ctx, n, time.Second) }()
	return h
}

// connect returns the client's end of a new connection.
func (h *web) connect() net.Conn {
	h.t.Helper()
	conn, err := h.net.Dial(h.t.Context(), "", "")
	if err != nil {
		h.t.Fatal(err)
	}
	return conn
}

// close stops the front and waits for it.
func (h *web) close() {
	h.t.Helper()
	h.stop()
	h.client.CloseIdleConnections()
	if err := <-h.served; err != nil {
		h.t.Errorf("Serve: %v", err)
	}
	h.hangup()
	synctest.Wait()
	h.client.CloseIdleConnections()
}

// webPeer is a scripted client over HTTP, with one session.
type webPeer struct {
	*web
	path    string
	session string
	headers http.Header
}

func (h *web) peer() *webPeer {
	return &webPeer{web: h, path: "/mcp", headers: http.Header{
		"Accept":       {"application/json, text/event-stream"},
		"Content-Type": {"application/json"},
	}}
}

// do sends one request; nil when that failed.
func (p *webPeer) do(ctx context.Context, method, body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+p.path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header = p.headers.Clone()
	if p.session != "" {
		r.Header.Set(headerSession, p.session)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return p.client.Do(r)
}

// whole is a response that was read to its end.
type whole struct {
	status int
	header http.Header
	body   string
}

// send sends one request and reads the whole response.
func (p *webPeer) send(method, body string, headers ...string) whole {
	p.t.Helper()
	res, err := p.do(p.base, method, body, headers...)
	if err != nil {
		p.t.Fatalf("%s %.80s: %v", method, body, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatalf("reading the response to %.80s: %v", body, err)
	}
	return whole{res.StatusCode, res.Header, string(b)}
}

// post sends a message and wants a response with this status, type and body.
func (p *webPeer) post(why, body string, status int, want string) {
	p.t.Helper()
	got := p.send(http.MethodPost, body)
	if got.status != status || got.body != want {
		p.t.Fatalf("%s\n got %d %s\nwant %d %s", why, got.status, got.body, status, want)
	}
}

// shake opens the session.
func (p *webPeer) shake(r wire.Revision) *webPeer {
	p.t.Helper()
	got := p.send(http.MethodPost, initializeAs(r))
	if got.status != http.StatusOK || got.body != initialized(r) || got.header.Get(headerSession) == "" {
		p.t.Fatalf("initialize: got %+v", got)
	}
	p.session = got.header.Get(headerSession)
	p.headers.Set(headerVersion, string(r))
	p.post("initialized", initializedNote, http.StatusAccepted, "")
	return p
}

// events is an open event stream.
type events struct {
	t      *testing.T
	status int
	header http.Header
	reader *wire.EventReader
	body   io.ReadCloser
	hangup context.CancelFunc
	lastID string
}

// open sends a request and returns the event stream with which it is answered.
func (p *webPeer) open(method, body string, headers ...string) *events {
	p.t.Helper()
	ctx, hangup := context.WithCancel(p.base)
	res, err := p.do(ctx, method, body, headers...)
	if err != nil {
		p.t.Fatalf("%s %.80s: %v", method, body, err)
	}
	if got := res.Header.Get("Content-Type"); got != typeEvents {
		b, _ := io.ReadAll(res.Body)
		p.t.Fatalf("%s %.80s: got type %q, status %d, %s", method, body, got, res.StatusCode, b)
	}
	return &events{
		t: p.t, status: res.StatusCode, header: res.Header, body: res.Body, hangup: hangup,
		reader: wire.NewEventReader(res.Body, 64<<20),
	}
}

func (e *events) next() (wire.Event, error) {
	ev, err := e.reader.Next()
	if ev.ID != "" {
		e.lastID = ev.ID
	}
	return ev, err
}

// want reads events until one with data, and compares that.
func (e *events) want(why, want string) {
	e.t.Helper()
	if got := e.data(why); got != want {
		e.t.Fatalf("%s\n got %s\nwant %s", why, got, want)
	}
}

func (e *events) data(why string) string {
	e.t.Helper()
	for {
		ev, err := e.next()
		if err != nil {
			e.t.Fatalf("%s: %v", why, err)
		}
		if len(ev.Data) > 0 {
			return string(ev.Data)
		}
	}
}

// wantEnd wants nothing but the end.
func (e *events) wantEnd(why string) {
	e.t.Helper()
	ev, err := e.next()
	if err != io.EOF {
		e.t.Fatalf("%s: got event %s %q, %v; want the end", why, ev.ID, ev.Data, err)
	}
	e.close()
}

// close hangs up.
func (e *events) close() {
	e.hangup()
	e.body.Close()
}

// onWeb runs a story over HTTP in a bubble.
func onWeb(t *testing.T, o Options, story func(t *testing.T, h *web)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		hooks := relay.options()
		o.Late, o.Stray = hooks.Late, hooks.Stray
		h := newWeb(t, relay, o)
		defer h.close()
		story(t, h)
	})
}

// background sends a message and gives the response when it has come.
func (p *webPeer) background(body string, headers ...string) <-chan whole {
	c := make(chan whole, 1)
	go func() { c <- p.send(http.MethodPost, body, headers...) }()
	synctest.Wait()
	return c
}

// openLater is open for a response whose header comes later.
func (p *webPeer) openLater(body string) <-chan *events {
	c := make(chan *events, 1)
	go func() {
		res, err := p.do(p.base, http.MethodPost, body)
		if err != nil {
			p.t.Error(err)
			return
		}
		c <- &events{
			t: p.t, status: res.StatusCode, header: res.Header, body: res.Body, hangup: func() {},
			reader: wire.NewEventReader(res.Body, 64<<20),
		}
	}()
	synctest.Wait()
	return c
}

// callOf returns the one call of a client in progress.
func callOf(c *Client) *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		return call
	}
	return nil
}
