package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/pipenet"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// bodyTime is how long a caller of a desk may take to send a body: what the front
// sees to.
const bodyTime = 30 * time.Second

// headerPrincipal is how callers of a desk say who they are.
const headerPrincipal = "Test-Principal"

// desk is an API over HTTP, with a broker behind it.
type desk struct {
	t      *testing.T
	broker *input.Broker
	api    *API
	net    *pipenet.Net
	client *http.Client
	log    bytes.Buffer
	base   context.Context
}

func limits(forms input.Forms) input.Limits {
	return input.Limits{Timeout: time.Minute, Total: 1000, PerSession: 100, Rules: input.Rules{Check: true, Secrets: true}, Forms: forms}
}

// anyRate is a form lane in which any number of forms may be opened in a minute.
func anyRate() input.Forms { return input.Forms{PerMinute: -1} }

// atDesk runs a story in a bubble.
func atDesk(t *testing.T, forms input.Forms, o Options, story func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := pipenet.New()
		feeds := NewFeeds()
		d := &desk{t: t, net: n, broker: input.NewBroker(limits(forms), feeds), client: &http.Client{Transport: &http.Transport{DialContext: n.Dial}}}
		d.api = New(d.broker, feeds, o, slog.New(slog.NewTextHandler(&d.log, nil)))
		var hangup context.CancelFunc
		d.base, hangup = context.WithCancel(t.Context())
		server := &http.Server{
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ContentLength != 0 {
					if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
						t.Error(err)
					}
				}
				d.api.Serve(w, r, r.Header.Get(headerPrincipal))
			}),
		}
		served := make(chan error, 1)
		go func() { served <- server.Serve(n) }()
		defer func() {
			hangup()
			d.client.CloseIdleConnections()
			d.api.Close()
			server.Close()
			<-served
			d.broker.Close()
			time.Sleep(time.Second) // in which a server lets the caller read why it was cut
			synctest.Wait()
		}()
		story(t, d)
	})
}

// reply is a response that was read to its end.
type whole struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// do sends one request as somebody.
func (d *desk) do(who, method, path, body string, headers ...string) whole {
	d.t.Helper()
	res, err := d.send(who, method, path, body, headers...)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatalf("reading the response to %s %s: %v", method, path, err)
	}
	return whole{d.t, res.StatusCode, res.Header, string(b)}
}

func (d *desk) send(who, method, path, body string, headers ...string) (*http.Response, error) {
	d.t.Helper()
	var text io.Reader
	if body != "" {
		text = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(d.base, method, "http://localhost"+Root+path, text)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("User-Agent", "desk/1")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		r.Header.Set(headerPrincipal, who)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return d.client.Do(r)
}

// question is the question that a response holds.
func (w whole) question(status int) Question {
	w.t.Helper()
	var q Question
	if w.status != status || w.header.Get("Content-Type") != "application/json" || json.Unmarshal([]byte(w.body), &q) != nil {
		w.t.Fatalf("got %d %s\n%s\nwant a question with %d", w.status, w.header, w.body, status)
	}
	return q
}

// problem is the problem that a response holds, which must be what every problem is.
func (w whole) problem(status int, reason wire.Reason) Problem {
	w.t.Helper()
	var p Problem
	if w.status != status || w.header.Get("Content-Type") != "application/problem+json" || json.Unmarshal([]byte(w.body), &p) != nil {
		w.t.Fatalf("got %d %s\n%s\nwant a problem with %d %s", w.status, w.header, w.body, status, reason)
	}
	if p.Status != status || p.Reason != reason || p.Type != "urn:beckon:problem:"+string(reason) || p.Title == "" || p.Detail == "" ||
		!strings.HasPrefix(p.Instance, Root) || w.header.Get("Cache-Control") != "no-store" {
		w.t.Fatalf("got the problem %s, want status %d and reason %s, complete", w.body, status, reason)
	}
	return p
}

// ask opens a question about a form.
func (d *desk) ask(who, definition string) Question {
	d.t.Helper()
	return d.do(who, http.MethodPost, "/questions", `{"form":`+definition+`}`).question(http.StatusCreated)
}

// show fetches a question.
func (d *desk) show(who, id string) Question {
	d.t.Helper()
	return d.do(who, http.MethodGet, "/questions/"+id, "").question(http.StatusOK)
}

// post does something with a question.
func (d *desk) post(who, id, what, body string) whole {
	d.t.Helper()
	return d.do(who, http.MethodPost, "/questions/"+id+"/"+what, body)
}

// events is an open event stream.
type events struct {
	t      *testing.T
	status int
	header http.Header
	reader *wire.EventReader
	body   io.ReadCloser
}

// follow opens an event stream.
func (d *desk) follow(who, id string, headers ...string) *events {
	d.t.Helper()
	res, err := d.send(who, http.MethodGet, "/questions/"+id+"/events", "", headers...)
	if err != nil {
		d.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		b, _ := io.ReadAll(res.Body)
		d.t.Fatalf("got %d %s %s, want an event stream", res.StatusCode, kind, b)
	}
	return &events{d.t, res.StatusCode, res.Header, wire.NewEventReader(res.Body, 1<<20), res.Body}
}

// want reads the next event, which must be this one.
func (e *events) want(id, name string) Question {
	e.t.Helper()
	var q Question
	got, err := e.reader.Next()
	if err != nil || got.ID != id || got.Type != name || json.Unmarshal(got.Data, &q) != nil {
		e.t.Fatalf("got the event %s %q %s, %v; want %s %q", got.ID, got.Type, got.Data, err, id, name)
	}
	return q
}

// wantEnd wants nothing but the end.
func (e *events) wantEnd() {
	e.t.Helper()
	if got, err := e.reader.Next(); err != io.EOF {
		e.t.Fatalf("got the event %s %q, %v; want the end", got.ID, got.Type, err)
	}
	e.body.Close()
}
