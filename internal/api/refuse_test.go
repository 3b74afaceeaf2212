package api

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Bodies that are not what an endpoint takes are refused with the reason, and change
// nothing.
func TestBodies(t *testing.T) {
	atDesk(t, anyRate(), Options{MaxBody: 2000}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		for _, tt := range []struct {
			name, path, body string
			status           int
			reason           wire.Reason
		}{
			{"nothing", "/questions", ``, 400, reasonMalformed},
			{"white space", "/questions", ` `, 400, reasonMalformed},
			{"an empty object", "/questions", `{}`, 400, reasonMalformed},
			{"no JSON", "/questions", `form=x`, 400, reasonMalformed},
			{"an array", "/questions", `[{"prompt":"?"}]`, 400, reasonMalformed},
			{"null", "/questions", `null`, 400, reasonMalformed},
			{"half of it", "/questions", `{"prompt":`, 400, reasonMalformed},
			{"two", "/questions", `{"prompt":"?"}{"prompt":"?"}`, 400, reasonMalformed},
			{"a name twice", "/questions", `{"prompt":"?","prompt":"!"}`, 400, reasonMalformed},
			{"a name twice, in another spelling", "/questions", `{"prompt":"?","pr\u006fmpt":"!"}`, 400, reasonMalformed},
			{"a name twice, deep in the form", "/questions", `{"form":{"id":"a","id":"b"}}`, 400, reasonMalformed},
			{"invalid UTF-8", "/questions", "{\"prompt\":\"\xff\"}", 400, reasonMalformed},
			{"an unknown member", "/questions", `{"prompt":"?","x":1}`, 400, reasonMalformed},
			{"another case", "/questions", `{"Prompt":"?"}`, 400, reasonMalformed},
			{"an unknown term", "/questions", `{"prompt":"?","terms":{"timeouts":1000}}`, 400, reasonMalformed},
			{"a prompt that is none", "/questions", `{"prompt":7}`, 400, reasonMalformed},
			{"a null prompt", "/questions", `{"prompt":null}`, 400, reasonMalformed},
			{"a form that is none", "/questions", `{"form":"x"}`, 400, reasonMalformed},
			{"a null form", "/questions", `{"form":null,"prompt":"?"}`, 400, reasonMalformed},
			{"form and prompt", "/questions", `{"form":` + deploy + `,"prompt":"?"}`, 400, reasonMalformed},
			{"two forms", "/questions", `{"form":` + deploy + `,"formDefinition":` + deploy + `}`, 400, reasonMalformed},
			{"a timeout too short", "/questions", `{"prompt":"?","terms":{"timeout":999}}`, 400, reasonMalformed},
			{"a timeout too long", "/questions", `{"prompt":"?","terms":{"timeout":3600001}}`, 400, reasonMalformed},
			{"no timeout", "/questions", `{"prompt":"?","terms":{"timeout":0}}`, 400, reasonMalformed},
			{"a negative one", "/questions", `{"prompt":"?","terms":{"timeout":-1}}`, 400, reasonMalformed},
			{"a broken one", "/questions", `{"prompt":"?","terms":{"timeout":1000.5}}`, 400, reasonMalformed},
			{"one in words", "/questions", `{"prompt":"?","terms":{"timeout":"1s"}}`, 400, reasonMalformed},
			{"a huge one", "/questions", `{"prompt":"?","terms":{"timeout":99999999999999999999}}`, 400, reasonMalformed},
			{"terms that are none", "/questions", `{"prompt":"?","terms":[]}`, 400, reasonMalformed},
			{"extensions, perhaps", "/questions", `{"prompt":"?","terms":{"extension_allowed":"yes"}}`, 400, reasonMalformed},
			{"a faulty form", "/questions", `{"form":{"id":"x","title":"X","fields":[{"id":"a","type":"txt","label":"A"}]}}`, 422, wire.ReasonSchema},
			{"an empty form", "/questions", `{"form":{}}`, 422, wire.ReasonSchema},
			{"too much", "/questions", `{"prompt":"` + strings.Repeat("x", 2000) + `"}`, 413, reasonSize},

			{"no answer", "/questions/" + q.ID + "/answer", ``, 400, reasonMalformed},
			{"an empty one", "/questions/" + q.ID + "/answer", `{}`, 400, reasonMalformed},
			{"both", "/questions/" + q.ID + "/answer", `{"responses":{},"action":"decline"}`, 400, reasonMalformed},
			{"accept is no action", "/questions/" + q.ID + "/answer", `{"action":"accept"}`, 400, reasonMalformed},
			{"nor is timeout", "/questions/" + q.ID + "/answer", `{"action":"timeout"}`, 400, reasonMalformed},
			{"a list of responses", "/questions/" + q.ID + "/answer", `{"responses":[]}`, 400, reasonMalformed},
			{"another form", "/questions/" + q.ID + "/answer", `{"form_id":"login","responses":{"version":"v7"}}`, 409, reasonForm},
			{"an extension of nothing", "/questions/" + q.ID + "/extend", `{"extensionDuration":0}`, 400, reasonMalformed},
			{"a negative one", "/questions/" + q.ID + "/extend", `{"extensionDuration":-1}`, 400, reasonMalformed},
			{"a reason that is none", "/questions/" + q.ID + "/withdraw", `{"reason":1}`, 400, reasonMalformed},
			{"a long one", "/questions/" + q.ID + "/withdraw", `{"reason":"` + strings.Repeat("x", 501) + `"}`, 400, reasonMalformed},
		} {
			p := d.do("ada", "POST", tt.path, tt.body)
			got := p.problem(tt.status, tt.reason)
			if tt.reason == wire.ReasonSchema && (len(got.Faults) == 0 || got.Faults[0].Path == "" || got.Faults[0].Fix == "") {
				t.Errorf("%s: the faults are %+v", tt.name, got.Faults)
			}
		}
		if s := d.show("ada", q.ID); s.Status != "pending" || s.RetryCount != 0 || s.ExtensionsRemaining != 10 {
			t.Errorf("the question is %+v", s)
		}
	})
}

// Paths, methods and types of bodies that are not there.
func TestPaths(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("", deploy)
		for _, tt := range []struct {
			method, path string
			headers      []string
			status       int
			reason       wire.Reason
			allow        string
		}{
			{"GET", "/", nil, 404, reasonHTTP, ""},
			{"GET", "", nil, 404, reasonHTTP, ""},
			{"GET", "/questions/", nil, 404, reasonHTTP, ""},
			{"GET", "/questions/" + q.ID + "/", nil, 404, reasonHTTP, ""},
			{"GET", "//questions/" + q.ID, nil, 404, reasonHTTP, ""},
			{"GET", "/questions/" + q.ID + "/answers", nil, 404, reasonHTTP, ""},
			{"GET", "/questions", nil, 405, reasonHTTP, "POST"},
			{"GET", "/questions/" + q.ID + "/answer", nil, 405, reasonHTTP, "POST"},
			{"HEAD", "/questions/" + q.ID + "/withdraw", nil, 405, "", "POST"},
			{"DELETE", "/questions/" + q.ID, nil, 405, reasonHTTP, "GET, HEAD"},
			{"PUT", "/questions/" + q.ID, nil, 405, reasonHTTP, "GET, HEAD"},
			{"POST", "/questions/" + q.ID, nil, 405, reasonHTTP, "GET, HEAD"},
			{"TRACE", "/questions", nil, 405, reasonHTTP, "POST"},
			{"GET", "/questions/..%2f" + q.ID, nil, 404, wire.ReasonNotFound, ""},
			{"GET", "/questions%2f" + q.ID, nil, 404, reasonHTTP, ""},
			{"POST", "/questions/" + q.ID + "%2fwithdraw", nil, 405, reasonHTTP, "GET, HEAD"},
			{"GET", "/questions/" + q.ID + "%2fevents", nil, 404, wire.ReasonNotFound, ""},
			{"GET", "/questions/" + strings.ToLower(q.ID), nil, 404, wire.ReasonNotFound, ""},
		} {
			w := d.do("", tt.method, tt.path, "", tt.headers...)
			if w.header.Get("Allow") != tt.allow || w.status != tt.status {
				t.Errorf("%s %s: got %d, Allow %q; want %d, %q", tt.method, tt.path, w.status, w.header.Get("Allow"), tt.status, tt.allow)
			}
			if tt.reason != "" && tt.method != "HEAD" {
				w.problem(tt.status, tt.reason)
			}
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "application/json-seq", "*/*"} {
			d.do("", "POST", "/questions/"+q.ID+"/answer", `{"action":"decline"}`, "Content-Type", kind).problem(415, reasonHTTP)
		}
		for _, coding := range []string{"gzip", "br", "identity, gzip"} {
			w := d.do("", "POST", "/questions/"+q.ID+"/answer", `{"action":"decline"}`, "Content-Type", "application/json", "Content-Encoding", coding)
			w.problem(415, reasonHTTP)
			if w.header.Get("Accept-Encoding") != "identity" {
				t.Errorf("%s: the headers are %v", coding, w.header)
			}
		}
		if s := d.show("", q.ID); s.Status != "pending" {
			t.Errorf("the question is %+v", s)
		}
		d.do("", "POST", "/questions/"+q.ID+"/answer", `{"action":"decline"}`, "Content-Type", "application/json; charset=utf-8", "Content-Encoding", "Identity").question(200)
	})
}

// Looking changes nothing: GET and HEAD, of a question and of its events.
func TestLookingChangesNothing(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		before := d.do("ada", "GET", "/questions/"+q.ID, "").body
		for _, path := range []string{"", "/events"} {
			if w := d.do("ada", "HEAD", "/questions/"+q.ID+path, ""); w.status != 200 || w.body != "" {
				t.Errorf("HEAD %s: got %d %s", path, w.status, w.body)
			}
		}
		d.do("ada", "GET", "/questions/"+q.ID, `{"responses":{"version":"v7"}}`)
		d.follow("ada", q.ID).body.Close()
		synctest.Wait()
		if after := d.do("ada", "GET", "/questions/"+q.ID, "").body; after != before {
			t.Errorf("it was\n%s and is\n%s", before, after)
		}
	})
}

// The page of another site can make a browser send nothing that does anything.
func TestCrossSite(t *testing.T) {
	atDesk(t, anyRate(), Options{Origins: []string{"https://good.example", "vscode-webview://panel"}}, func(t *testing.T, d *desk) {
		q := d.ask("", deploy)
		for _, tt := range []struct {
			name    string
			headers []string
			refused bool
		}{
			{"another site", []string{"Sec-Fetch-Site", "cross-site"}, true},
			{"the same site, another origin", []string{"Sec-Fetch-Site", "same-site"}, true},
			{"an older browser", []string{"Origin", "https://evil.example"}, true},
			{"no origin", []string{"Origin", "null"}, true},
			{"the page of a tool at the same machine", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://127.0.0.1:3000"}, true},
			{"the gateway's own page", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost"}, false},
			{"a person", []string{"Sec-Fetch-Site", "none"}, false},
			{"an allowed page", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://good.example"}, false},
			{"a program", nil, false},
		} {
			w := d.do("", "POST", "/questions/"+q.ID+"/extend", `{"extensionDuration":1000}`, tt.headers...)
			// A page that says where it comes from can read what it gets, so that looking is refused as well.
			if look := d.do("", "GET", "/questions/"+q.ID, "", tt.headers...); slices.Contains(tt.headers, "Origin") && tt.refused {
				look.problem(http.StatusForbidden, reasonOrigin)
			} else {
				look.question(200)
			}
			switch {
			case tt.refused:
				w.problem(http.StatusForbidden, reasonOrigin)
			case w.status != 200:
				t.Errorf("%s: got %d %s", tt.name, w.status, w.body)
			}
		}
		if got := d.do("", "GET", "/questions/"+q.ID, "", "Sec-Fetch-Site", "cross-site"); got.header.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
			got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("the headers are %v", got.header)
		}
	})
}

// A body that does not come is refused when its time is over, and holds up nobody.
func TestSlowBody(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("", deploy)
		for _, path := range []string{"/questions", "/questions/" + q.ID + "/answer"} {
			start := time.Now()
			conn, err := d.net.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "POST "+Root+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			if s := d.show("", q.ID); s.Status != "pending" {
				t.Errorf("meanwhile the question is %+v", s)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 408 ") || !strings.Contains(string(got), `"reason":"slow"`) || time.Since(start) != bodyTime {
				t.Errorf("%s: after %v got %s, %v", path, time.Since(start), got, err)
			}
			conn.Close()
		}
	})
}

// A body without an announced length is bounded too, and one that ends too early is
// refused.
func TestBodyLengths(t *testing.T) {
	atDesk(t, anyRate(), Options{MaxBody: 1000}, func(t *testing.T, d *desk) {
		q := d.ask("", deploy)
		for _, tt := range []struct{ name, head, body, want string }{
			{"chunks without end", "Transfer-Encoding: chunked\r\n", strings.Repeat("190\r\n"+strings.Repeat("x", 400)+"\r\n", 3), " 413 "},
			{"a lie", "Content-Length: 999999999999\r\n", "{", " 413 "},
		} {
			conn, err := d.net.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			go io.WriteString(conn, "POST "+Root+"/questions/"+q.ID+"/answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+tt.head+"\r\n"+tt.body)
			buf := make([]byte, 500)
			n, err := conn.Read(buf)
			if got := string(buf[:n]); err != nil || !strings.Contains(got, tt.want) {
				t.Errorf("%s: got %s, %v", tt.name, got, err)
			}
			conn.Close()
		}
	})
}
