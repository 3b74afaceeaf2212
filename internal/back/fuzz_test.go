package back

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// list is a Receiver that writes down what it gets.
type list struct {
	messages []string // with the stream on which they came
	noise    int
}

func (l *list) Receive(m wire.Message, of wire.ID) {
	l.messages = append(l.messages, string(of)+" "+string(m.Raw()))
}

func (l *list) Noise(error) { l.noise++ }

// pieces is a body that comes in two pieces, and then one byte at a time.
type pieces struct {
	data  []byte
	split int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := 1
	if p.split > 0 {
		n = min(p.split, len(b), len(p.data))
	}
	copy(b, p.data[:n])
	p.data, p.split = p.data[n:], 0
	return n, nil
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// readAnswer sends a call with id 1 that is answered with body.
func readAnswer(t *testing.T, status int, contentType string, body io.Reader) (l *list, told string) {
	d, err := NewHTTP(slog.New(slog.DiscardHandler), HTTPOptions{URL: testURL, MaxMessage: 1 << 10, ResumeAttempts: -1})
	if err != nil {
		t.Fatal(err)
	}
	d.site.http.Transport = transport(func(*http.Request) (*http.Response, error) {
		return response(status, io.NopCloser(body), "Content-Type", contentType), nil
	})
	l = new(list)
	conn := d.conn(l)
	conn.Negotiated(wire.R20250326) // has batches too
	if err := conn.Send(t.Context(), parse(callOne)); err != nil {
		told = wire.ErrorFrom(err).Message
	}
	conn.Close()
	return l, told
}

// However an answer is cut into pieces on the network, it says the same; and
// either the call has its response, or Send says that it has none.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		oneAnswer, note, "[" + note + "," + oneAnswer + "]", `{"jsonrpc":"2.0","id":null,"error":{}}`, "", "{", "[]",
		"data: " + oneAnswer + "\n\n", "id: 1\r\nretry: 5\r\ndata:\r\n\r\ndata: " + note + "\r\rdata: " + oneAnswer + "\n\n",
		"\xef\xbb\xbfdata:" + question + "\n\nevent: ping\ndata: {}\n\n: c\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"error\":{}}\n\n",
	} {
		for _, stream := range []bool{false, true} {
			f.Add([]byte(s), uint16(len(s)/2), stream, uint16(200))
		}
	}
	f.Add([]byte(`{"jsonrpc":"2.0","error":{"code":1}}`), uint16(3), false, uint16(400))
	f.Fuzz(func(t *testing.T, data []byte, split uint16, stream bool, status uint16) {
		contentType := "application/json"
		if stream {
			contentType = "text/event-stream"
		}
		code := 200 + int(status)%400
		if code/100 == 3 {
			code = 200
		}
		whole, told := readAnswer(t, code, contentType, bytes.NewReader(data))
		cut, toldCut := readAnswer(t, code, contentType, &pieces{bytes.Clone(data), int(split)})
		if told != toldCut || !slices.Equal(whole.messages, cut.messages) || whole.noise != cut.noise {
			t.Errorf("in one piece: %q %q, noise %d; cut: %q %q, noise %d",
				whole.messages, told, whole.noise, cut.messages, toldCut, cut.noise)
		}
		answered := slices.ContainsFunc(whole.messages, func(s string) bool {
			m := parse(s[len("1 "):])
			return m.IsResponse() && m.ID() == "1"
		})
		if answered != (told == "") {
			t.Errorf("received %q, and Send says %q", whole.messages, told)
		}
	})
}
